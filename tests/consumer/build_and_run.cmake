# Builds tests/consumer against this build in one of two ways and runs what it makes.
# The build tree is kept, so that a second run compiles nothing.
set(tree ${binary}/consumer-${way})

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

if(way STREQUAL "install")
  run(${CMAKE_COMMAND} --install ${binary} --prefix ${tree}/prefix)
  set(where -D CMAKE_PREFIX_PATH=${tree}/prefix)
else()
  set(where -D BACKSLICE_SOURCE_DIR=${source})
endif()
run(${CMAKE_COMMAND} -S ${source}/tests/consumer -B ${tree} -G Ninja -D CMAKE_CXX_COMPILER=${compiler}
  -D CMAKE_CXX_COMPILER_LAUNCHER=${launcher} -D CMAKE_BUILD_TYPE=${build_type} ${where})
run(${CMAKE_COMMAND} --build ${tree})

# All of them check themselves; the README's program prints what is compared here.
file(READ ${tree}/programs.txt programs)
foreach(program IN LISTS programs)
  execute_process(COMMAND ${tree}/${program} OUTPUT_VARIABLE printed OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  set(expected "0 0 0 0 0 1 0 2 0 3 4 0 5 0 6 0 0 0 0 0")
  if(program STREQUAL "main" AND NOT printed STREQUAL expected)
    message(FATAL_ERROR "printed '${printed}', expected '${expected}'")
  endif()
endforeach()
