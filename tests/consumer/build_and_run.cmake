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
