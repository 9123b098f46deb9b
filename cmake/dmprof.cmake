# Helpers shared by every folder: warnings, sanitizers, libraries and tests made the same way.

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

set(dm_warnings -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Werror)
if(DMPROF_SANITIZE)
  # With sanitizers g++ 12 takes std::regex and std::function for uninitialised.
  list(APPEND dm_warnings $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  if(DMPROF_SANITIZE MATCHES thread)
    # It does not see fences (the tables of the control page have one), so that it may miss a race there.
    list(APPEND dm_warnings $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  endif()
endif()
list(TRANSFORM dm_warnings REPLACE "^-Wnon-virtual-dtor$" "$<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>")

if(DMPROF_SANITIZE)
  add_compile_options(-fsanitize=${DMPROF_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${DMPROF_SANITIZE})
  add_compile_definitions(_GLIBCXX_ASSERTIONS)  # an index past the end of a vector is otherwise not seen
endif()

if(DMPROF_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)  # the fuzzers see which branches of the parsers an input reaches
endif()

# Adds a folder when it has something to build.
function(dm_add_folder folder)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt)
    add_subdirectory(${folder})
  endif()
endfunction()

# dm_library(NAME SOURCES a.cc b.cc LINK dmprof_base [PRIVATE_LINK sqlite3]); header-only when SOURCES is empty.
function(dm_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  if(arg_SOURCES)
    add_library(${name} STATIC ${arg_SOURCES})
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_compile_options(${name} PRIVATE ${dm_warnings})
    target_link_libraries(${name} PUBLIC ${arg_LINK} PRIVATE ${arg_PRIVATE_LINK})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} INTERFACE ${arg_LINK})
  endif()
endfunction()

# dm_quick_build(LIBRARIES…): what runs once a command and waits for nothing. Templates of CLI11, JSON and fmt cost most of the
# build of such a file, and -O1 takes a good part of that away.
function(dm_quick_build)
  foreach(library IN LISTS ARGN)
    target_compile_options(${library} PRIVATE -O1)
  endforeach()
endfunction()

# dm_program(NAME SOURCES … LINK …): a binary in build/bin.
function(dm_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${name} PRIVATE ${dm_warnings})
  target_link_libraries(${name} PRIVATE ${arg_LINK})
endfunction()

# dm_test(NAME SOURCES … LINK …): one GoogleTest binary, one ctest entry. Tests find the checkout and the build through the
# environment, so that they also run from another folder.
function(dm_test name)
  if(NOT DMPROF_TESTS)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  # Tests are compiled once and run once: little optimisation builds faster, and g++ 12 then sees fewer overlapping copies in
  # "text" + std::string where there are none (GCC bug 105651).
  target_compile_options(${name} PRIVATE ${dm_warnings} -O1 $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gtest GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300
    ENVIRONMENT "DMPROF_SOURCE_DIR=${PROJECT_SOURCE_DIR};DMPROF_BINARY_DIR=${CMAKE_BINARY_DIR}")
endfunction()

# dm_benchmark(NAME SOURCES … LINK …): a Google Benchmark binary in build/bench, run by `make bench`.
function(dm_benchmark name)
  if(NOT DMPROF_BENCHMARKS)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${name} PRIVATE ${dm_warnings})
  target_link_libraries(${name} PRIVATE ${arg_LINK} benchmark::benchmark)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endfunction()
