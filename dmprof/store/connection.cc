#include "dmprof/store/connection.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "dmprof/store/schema.h"
#include "dmprof/store/statement.h"
#include "dmprof/store/whole_pages.h"

namespace dmprof::store {

namespace {

constexpr int busy_ms = 2000;
// Above any column this format can hold (1 Mi rows of 10 bytes, and what the compressor may add).
constexpr int largest_value = 16 << 20;
constexpr std::size_t header_bytes = 100;

struct FileHeader {
  std::array<unsigned char, header_bytes> bytes{};
  bool is_sqlite() const { return std::memcmp(bytes.data(), "SQLite format 3", 16) == 0; }
  bool is_wal() const { return bytes[18] == 2 || bytes[19] == 2; }
  std::int32_t application() const { return big_endian(68); }
  std::int32_t pages() const { return big_endian(28); }
  // What the file takes by its header; 0 = the header does not know (written by a very old SQLite).
  std::uint64_t whole_bytes() const {
    if (big_endian(24) != big_endian(92) || pages() <= 0) return 0;
    const auto written = static_cast<std::uint64_t>(bytes[16] << 8 | bytes[17]);
    return static_cast<std::uint64_t>(pages()) * (written == 1 ? 65536 : written);
  }
  std::int32_t big_endian(std::size_t at) const {
    return static_cast<std::int32_t>(bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3]);
  }
};

std::string reason(int error) { return std::strerror(error); }

bool has_content(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && info.st_size > 0;
}

// Looks at the file without SQLite: most wrong files are recognised here, with a message of their own.
Result<FileHeader> read_header(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    return fail(ErrorKind::environment, path + ": " + (missing ? "no such recording; check the path" : reason(errno)));
  }
  if (S_ISDIR(info.st_mode))
    return fail(ErrorKind::bad_input, path + ": a directory, not a recording; name the .dmprof file in it");
  if (!S_ISREG(info.st_mode)) return fail(ErrorKind::bad_input, path + ": not a regular file; name a .dmprof file");
  if (info.st_size == 0)
    return fail(ErrorKind::bad_input, path + ": an empty file; the recorder could not write, record again");
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(ErrorKind::environment, path + ": " + reason(errno) + "; check its permissions");
  FileHeader header;
  file.read(reinterpret_cast<char*>(header.bytes.data()), header_bytes);
  if (file.gcount() < 16 || !header.is_sqlite()) {
    return fail(ErrorKind::bad_input, path + ": not a recording; name a .dmprof file");
  }
  if (file.gcount() < static_cast<std::streamsize>(header_bytes)) {
    return fail(ErrorKind::bad_input,
                path + ": cut off after " + std::to_string(file.gcount()) + " bytes; use a whole copy");
  }
  return header;
}

std::string file_uri(const std::string& path, const std::string& parameters) {
  std::string uri = "file:";
  for (const char character : path) {
    const auto byte = static_cast<unsigned char>(character);
    if (std::isalnum(byte) || std::strchr("/._-~", character) != nullptr) {
      uri += character;
    } else {
      constexpr char digits[] = "0123456789ABCDEF";
      uri += {'%', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return uri + "?" + parameters;
}

// Settings for a file somebody else may have made.
void guard(sqlite3* database) {
  sqlite3_extended_result_codes(database, 1);
  sqlite3_busy_timeout(database, busy_ms);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, largest_value);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_exec(database, "PRAGMA cell_size_check=ON", nullptr, nullptr, nullptr);
}

Result<Database> open_guarded(const std::string& path, const std::string& uri, int flags) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(uri.c_str(), &opened, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(opened);
  if (code != SQLITE_OK) return tl::unexpected(sqlite_error(opened, code, path));
  guard(opened);
  return database;
}

// The first read is where SQLite opens the log and takes its locks.
Status first_read(sqlite3* database) {
  const auto version = query_integer(database, "SELECT count(*) FROM sqlite_schema");
  if (!version) return tl::unexpected(version.error());
  return {};
}

Result<Database> checked(Result<Database> database, const std::string& path) {
  if (!database) return database;
  if (Status read = first_read(database->get()); !read) {
    return fail(read.error().kind, path + ": " + read.error().message);
  }
  const auto version = check_recording(database->get(), path);
  if (!version) return tl::unexpected(version.error());
  return database;
}

Status remove_recording(const std::string& path) {
  if (!is_recording_file(path) && has_content(path)) {
    return fail(ErrorKind::usage, path + ": exists and is not a recording; choose another name or move it away");
  }
  remove_files(path);
  return {};
}

// A recording in WAL mode whose log was never folded in holds one page of nothing.
bool lacks_its_log(const FileHeader& header) {
  return header.is_wal() && (header.application() == 0 || header.application() == application_id) &&
         header.pages() <= 1;
}

// SQLite refuses a file that lacks pages, unless its schema is being mended: then only what is missing cannot be read.
// Nothing is written: the file is opened as one that never changes.
Result<Database> open_cut_off(const std::string& path, std::uint64_t missing) {
  const char* layer = whole_pages_vfs();
  if (layer == nullptr) return fail(ErrorKind::environment, path + ": SQLite has no file system; mend its build");
  auto database =
      open_guarded(path, file_uri(path, std::string("mode=ro&immutable=1&vfs=") + layer), SQLITE_OPEN_READONLY);
  if (database) {
    sqlite3_db_config(database->get(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
    sqlite3_exec(database->get(), "PRAGMA writable_schema=ON", nullptr, nullptr, nullptr);
  }
  auto opened = checked(std::move(database), path);
  if (opened || opened.error().kind != ErrorKind::bad_input) return opened;
  return fail(ErrorKind::bad_input, path + ": cut off, " + std::to_string(missing) +
                                        " bytes are missing at its end and what is left cannot be read; use a whole "
                                        "copy");
}

}  // namespace

std::uint64_t bytes_missing(const std::string& path) {
  const auto lacks = [&]() -> std::uint64_t {
    const auto header = read_header(path);
    struct stat info {};
    if (!header || header->application() != application_id || stat(path.c_str(), &info) != 0) return 0;
    const std::uint64_t whole = header->whole_bytes(), present = static_cast<std::uint64_t>(info.st_size);
    return whole > present ? whole - present : 0;
  };
  // Whoever adds to the recording writes its first page before the last one. Its journal is there as long as that
  // takes: looked for after the first look, so that a second one that agrees is about a file at rest.
  if (lacks() == 0 || has_content(path + "-wal") || has_content(path + "-journal")) return 0;
  return lacks();
}

void remove_files(const std::string& path) {
  for (const char* suffix : {"-wal", "-shm", "-journal", ""}) {
    std::error_code ignored;
    std::filesystem::remove(path + suffix, ignored);
  }
}

bool is_recording_file(const std::string& path) {
  const auto header = read_header(path);
  return header && header->application() == application_id;
}

Result<Database> create_database(const std::string& path, bool overwrite, std::uint64_t max_file_bytes) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return fail(ErrorKind::usage, path + ": a directory; name a file in it");
  }
  // An empty file is a place somebody reserved for this recording (and may hold a lock on): it is written into.
  const bool reserved = overwrite && std::filesystem::is_regular_file(path, ignored) && !has_content(path);
  if (overwrite && !reserved && std::filesystem::exists(path, ignored)) DMPROF_TRY(remove_recording(path));
  const int file = open(path.c_str(), (reserved ? 0 : O_CREAT | O_EXCL) | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) {
    if (errno == EEXIST) return fail(ErrorKind::usage, path + ": exists already; choose another name");
    return fail(ErrorKind::environment, path + ": cannot be created: " + reason(errno) + "; check the folder");
  }
  close(file);
  auto database = open_guarded(path, file_uri(path, "mode=rw"), SQLITE_OPEN_READWRITE);
  if (!database) return database;
  // 8 KiB pages: column blobs of some hundred KiB. NORMAL: a killed recorder loses nothing committed, a power cut at
  // most the log's tail. The log may grow to 64 MiB before it is folded in, so that folding (which waits for the disk)
  // is rare.
  // The mark comes before the log: the file itself says what it is, even when its recorder is killed at once.
  Status set =
      execute(database->get(), "PRAGMA page_size=8192; PRAGMA application_id=" + std::to_string(application_id) +
                                   "; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
                                   "PRAGMA wal_autocheckpoint=8192; PRAGMA cache_size=-16384");
  if (set && max_file_bytes != 0) {
    set = execute(database->get(), "PRAGMA max_page_count=" + std::to_string(max_file_bytes / 8192 + 1));
  }
  if (!set) {
    database->reset();
    remove_files(path);
    return fail(set.error().kind, path + ": " + set.error().message);
  }
  return database;
}

Result<Database> open_read_only(const std::string& path) {
  const auto header = read_header(path);
  if (!header) return tl::unexpected(header.error());
  constexpr int flags = SQLITE_OPEN_READONLY;
  if (const std::uint64_t missing = bytes_missing(path); missing > 0) return open_cut_off(path, missing);
  if (!header->is_wal()) {
    // Whoever added metrics was killed in the middle: undo it where that is allowed.
    if (has_content(path + "-journal")) {
      auto mended = open_guarded(path, file_uri(path, "mode=rw"), SQLITE_OPEN_READWRITE);
      if (mended) (void)first_read(mended->get());
    }
    return checked(open_guarded(path, file_uri(path, "mode=ro"), flags), path);
  }
  // WAL without a log: nobody writes, and opening it normally would leave files beside it or fail in a read-only
  // folder.
  if (!has_content(path + "-wal") && lacks_its_log(*header)) {
    return fail(ErrorKind::bad_input, path + ": what its recorder wrote is in the file " + path +
                                          "-wal, which is missing; copy that file too, or record again");
  }
  if (!has_content(path + "-wal"))
    return checked(open_guarded(path, file_uri(path, "mode=ro&immutable=1"), flags), path);

  auto database = open_guarded(path, file_uri(path, "mode=ro"), flags);
  if (!database || first_read(database->get())) return checked(std::move(database), path);
  // A log in a folder where its index cannot be made: without locks SQLite builds the index in memory.
  database = open_guarded(path, file_uri(path, "mode=ro&vfs=unix-none"), flags);
  if (database) sqlite3_exec(database->get(), "PRAGMA locking_mode=EXCLUSIVE", nullptr, nullptr, nullptr);
  return checked(std::move(database), path);
}

Result<Database> open_read_write(const std::string& path) {
  const auto header = read_header(path);
  if (!header) return tl::unexpected(header.error());
  if (const std::uint64_t missing = bytes_missing(path); missing > 0) {
    return fail(ErrorKind::bad_input, path + ": cut off, " + std::to_string(missing) +
                                          " bytes are missing at its end, so nothing is added to it; use a whole copy");
  }
  auto database = checked(open_guarded(path, file_uri(path, "mode=rw"), SQLITE_OPEN_READWRITE), path);
  if (!database) return database;
  if (header->is_wal()) {
    Status folded = execute(database->get(), "PRAGMA journal_mode=DELETE");
    if (!folded) return fail(folded.error().kind, path + ": " + folded.error().message);
  }
  if (Status moved = migrate(database->get()); !moved)
    return fail(moved.error().kind, path + ": " + moved.error().message);
  return database;
}

}  // namespace dmprof::store
