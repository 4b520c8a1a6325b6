# The dependencies of the build. All are looked for before anything is reported, so that one error names every missing
# package.
macro(backslice_need package debian_packages)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    list(APPEND backslice_missing ${package})
    list(APPEND backslice_debian_packages ${debian_packages})
  endif()
endmacro()

if(BACKSLICE_HIGHWAY_SOURCE)
  include(cmake/highway.cmake)
else()
  backslice_need(hwy libhwy-dev)
endif()
backslice_need(Threads libc6-dev)
if(BACKSLICE_EXECUTOR STREQUAL "tbb")
  backslice_need(TBB libtbb-dev)
endif()
if(BACKSLICE_BUILD_TESTS)
  backslice_need(GTest "libgtest-dev;libgmock-dev")
  backslice_need(nlohmann_json nlohmann-json3-dev)
endif()
if(BACKSLICE_BUILD_BENCHMARKS)
  backslice_need(benchmark libbenchmark-dev)
endif()

if(backslice_missing)
  list(JOIN backslice_missing ", " names)
  list(JOIN backslice_debian_packages " " packages)
  set(without_tests "")
  if("GTest" IN_LIST backslice_missing OR "nlohmann_json" IN_LIST backslice_missing)
    set(without_tests "Only the tests need GTest and nlohmann_json. To build without tests, add\n  -D BACKSLICE_BUILD_TESTS=OFF")
  endif()
  # CMake prints indented lines unchanged.
  message(FATAL_ERROR "backslice needs ${names}, which CMake did not find. On Debian and Ubuntu, run\n"
    "  apt install ${packages}\n"
    "as root. Elsewhere, install what is missing and name its folder in CMAKE_PREFIX_PATH. ${without_tests}")
endif()
