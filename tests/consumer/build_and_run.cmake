# Builds tests/consumer and tests/c_consumer, a project of C alone, against the library in one of the ways that the manual
# names, and runs the programs.
# The build trees are kept, so that a second run compiles nothing.
# Usage: cmake -D from=install|subdirectory|fetch_content|pkg_config|debian_package -D linkage=static|shared -D source=...
#   -D binary=... -D compiler=... -D launcher=... -P build_and_run.cmake
set(tree ${binary}-consumer-${from}-${linkage})
set(tools -G Ninja -DCMAKE_CXX_COMPILER=${compiler} -D CMAKE_CXX_COMPILER_LAUNCHER=${launcher} -D CMAKE_CUDA_COMPILER_LAUNCHER=${launcher})
# Every kind of build: a library that a project compiles itself, once for debugging and once without a build type.
set(build_type -D CMAKE_BUILD_TYPE=Release)
if(from STREQUAL "fetch_content")
  set(build_type -D CMAKE_BUILD_TYPE=Debug)
elseif(from STREQUAL "subdirectory")
  set(build_type -D CMAKE_EXPORT_COMPILE_COMMANDS=ON)
endif()
list(APPEND tools ${build_type})

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Sets `built` to a build tree of the library: this one, which is static, or another for the shared library.
function(build_library)
  set(built ${binary} PARENT_SCOPE)
  if(linkage STREQUAL "shared")
    set(shared ${binary}-consumer-shared-library)
    run(${CMAKE_COMMAND} -S ${source} -B ${shared} ${tools} -D BUILD_SHARED_LIBS=ON)
    run(${CMAKE_COMMAND} --build ${shared})
    set(built ${shared} PARENT_SCOPE)
  endif()
endfunction()

# Unpacks the Debian package into an empty root: it holds all that the library needs but what it says it depends on.
function(unpack_debian_package root)
  file(REMOVE_RECURSE ${tree}/package ${root})
  run(${CMAKE_COMMAND} -E make_directory ${root})
  run(${CMAKE_CPACK_COMMAND} --config ${built}/CPackConfig.cmake -B ${tree}/package)
  file(GLOB package ${tree}/package/*.deb)
  run(dpkg-deb -x ${package} ${root})
  execute_process(COMMAND dpkg-deb -f ${package} Depends OUTPUT_VARIABLE depends COMMAND_ERROR_IS_FATAL ANY)
  if(NOT depends MATCHES "libhwy1.*libstdc\\+\\+6")
    message(FATAL_ERROR "the Debian package depends on '${depends}', expected libhwy1 and libstdc++6 among it")
  endif()
endfunction()

set(CMAKE_CPACK_COMMAND ${CMAKE_COMMAND}/../cpack)
cmake_path(NORMAL_PATH CMAKE_CPACK_COMMAND)
set(where -D from=${from} -D BACKSLICE_SOURCE_DIR=${source})
if(from MATCHES "^(install|pkg_config)$")
  build_library()
  run(${CMAKE_COMMAND} --install ${built} --prefix ${tree}/prefix --component library)
  list(APPEND where -D CMAKE_PREFIX_PATH=${tree}/prefix)
elseif(from STREQUAL "debian_package")
  build_library()
  unpack_debian_package(${tree}/root)
  list(APPEND where -D CMAKE_PREFIX_PATH=${tree}/root/usr)
elseif(linkage STREQUAL "shared")
  list(APPEND where -D BUILD_SHARED_LIBS=ON)
endif()
run(${CMAKE_COMMAND} -S ${source}/tests/consumer -B ${tree} ${tools} ${where})
run(${CMAKE_COMMAND} --build ${tree})

if(from STREQUAL "subdirectory")
  file(READ ${tree}/compile_commands.json commands)
  if(NOT commands MATCHES "backslice\\.dir[^\n]* -O3 |-O3 [^\n]*backslice\\.dir")
    message(FATAL_ERROR "without a build type, the library is not optimised as a subdirectory")
  endif()
endif()

# C alone: pkg-config's flags for a C compiler, or the CMake project.
if(from STREQUAL "pkg_config")
  set(ENV{PKG_CONFIG_PATH} ${tree}/prefix/lib/pkgconfig:${tree}/prefix/lib64/pkgconfig)
  set(sources ${source}/tests/c_abi/guide.c)
  run(sh -c "cc -std=c11 ${sources} $(pkg-config --cflags --libs backslice) -Wl,-rpath,${tree}/prefix/lib -o ${tree}/c_guide")
  run(${tree}/c_guide)
else()
  # A compiler of C++ is needed only where the project compiles the library, which finds it by itself.
  list(FILTER tools EXCLUDE REGEX "CXX_COMPILER=")
  run(${CMAKE_COMMAND} -S ${source}/tests/c_consumer -B ${tree}-c ${tools} ${where})
  run(${CMAKE_COMMAND} --build ${tree}-c)
  run(${tree}-c/guide)
  run(${tree}-c/op_library)
endif()

# All of them check themselves; what the manual says that they print is compared here.
set(expected_main "0 0 0 0 0 1 0 2 0 3 4 0 5 0 6 0 0 0 0 0")
set(expected_containers "[2:3, :] of shape [1000,4]\n[2,2] with 2 entries\n1 2 0 \n2 4 \n1 2 3 4 5 \n1 2 0 0 0")
file(READ ${tree}/programs.txt programs)
foreach(program IN LISTS programs)
  execute_process(COMMAND ${tree}/${program} OUTPUT_VARIABLE printed OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  if(DEFINED expected_${program} AND NOT printed STREQUAL expected_${program})
    message(FATAL_ERROR "${program} printed '${printed}', expected '${expected_${program}}'")
  endif()
endforeach()
