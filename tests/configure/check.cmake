# Configures the project as someone would who lacks some packages, and checks what CMake says.
# Usage: cmake -D source=... -D binary=... -D compiler=... -P check.cmake

# Sets `printed` to what CMake says where find_package fails for the packages listed after `without`.
function(configure expected without)
  file(REMOVE_RECURSE ${binary}/configure)
  list(TRANSFORM without REPLACE "(.+)" "-DCMAKE_DISABLE_FIND_PACKAGE_\\1=ON")
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${source} -B ${binary}/configure -G Ninja
    -D CMAKE_CXX_COMPILER=${compiler} ${without} ${ARGN} WORKING_DIRECTORY ${source}
    RESULT_VARIABLE code OUTPUT_VARIABLE printed ERROR_VARIABLE printed)
  set(outcome fails)
  if(code EQUAL 0)
    set(outcome succeeds)
  endif()
  if(NOT outcome STREQUAL expected)
    message(FATAL_ERROR "CMake ${outcome} without ${without}:\n${printed}")
  endif()
  set(printed "${printed}" PARENT_SCOPE)
endfunction()

function(expect_printed text)
  string(FIND "${printed}" "${text}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "\"${text}\" is not in:\n${printed}")
  endif()
endfunction()

configure(fails hwy)
expect_printed("backslice needs hwy, which CMake did not find")
expect_printed("\n    apt install libhwy-dev\n")

# One error names all missing packages.
configure(fails "hwy;GTest;nlohmann_json;benchmark" -D BACKSLICE_BUILD_TESTS=ON -D BACKSLICE_BUILD_BENCHMARKS=ON)
expect_printed("apt install libhwy-dev libgtest-dev libgmock-dev nlohmann-json3-dev libbenchmark-dev\n")
expect_printed("-D BACKSLICE_BUILD_TESTS=OFF")

# The release preset builds no tests and needs nothing that only tests and benchmarks use.
configure(succeeds "GTest;nlohmann_json;benchmark" --preset release)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${binary}/configure --target help OUTPUT_VARIABLE printed
  COMMAND_ERROR_IS_FATAL ANY)
if(printed MATCHES "backslice_tests|example_|backslice_bench")
  message(FATAL_ERROR "the release preset builds tests or benchmarks:\n${printed}")
endif()

# A build without a build type is optimised.
configure(succeeds "" -D CMAKE_EXPORT_COMPILE_COMMANDS=ON)
file(READ ${binary}/configure/compile_commands.json commands)
if(NOT commands MATCHES " -O3 -DNDEBUG ")
  message(FATAL_ERROR "a build without a build type is not optimised:\n${commands}")
endif()
