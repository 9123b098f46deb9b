// Errors are values. A function that can fail returns Result<T>; no exception crosses a folder's border.
// Every message is one line that says what went wrong, where, and how to mend it.
#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace dmprof {

// The kind decides the exit status of the command line (see exit_status.h); the text is for people.
enum class ErrorKind {
  usage,          // the caller asked for something that does not exist or does not fit together
  cannot_answer,  // the recording lacks what the question needs
  bad_input,      // a file or stream is damaged, foreign, newer, or hostile
  environment,    // no permission, no space, no such process, a missing facility of this machine
};

struct Error {
  ErrorKind kind = ErrorKind::bad_input;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message)});
}

}  // namespace dmprof

// Hands an error up: DMPROF_TRY(status_expression).
// For a value: `auto x = f(); if (!x) return tl::unexpected(x.error());`
#define DMPROF_TRY(expression)                                                \
  do {                                                                        \
    auto dmprof_try_result = (expression);                                    \
    if (!dmprof_try_result) return tl::unexpected(dmprof_try_result.error()); \
  } while (false)
