# Writes OUTPUT: migrations() with the text of each of FILES, in order.
set(entries "")
foreach(file ${FILES})
  file(READ ${file} text)
  string(APPEND entries "    R\"sql(${text})sql\",\n")
endforeach()
list(LENGTH FILES count)
file(WRITE ${OUTPUT} "#include \"dmprof/store/schema.h\"\n\n#include <array>\n\nnamespace dmprof::store {\n\nstd::span<const std::string_view> migrations() {\n  static constexpr std::array<std::string_view, ${count}> all = {\n${entries}  };\n  return all;\n}\n\n}  // namespace dmprof::store\n")
