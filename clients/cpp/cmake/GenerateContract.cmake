# Generates the messages and services of the contract with protoc and grpc_cpp_plugin, and compiles
# them as one static library.

set(_sidelight_client ${CMAKE_CURRENT_LIST_DIR}/..)
set(_sidelight_protos ${_sidelight_client}/../../Protos)

# Generates one file, and appends its sources to a list:
# `generate_proto(list root name with_service)`.
function(generate_proto result root name with_service)
  set(base ${CMAKE_CURRENT_BINARY_DIR}/generated/${name})
  set(outputs ${base}.pb.cc)
  set(arguments --cpp_out=${CMAKE_CURRENT_BINARY_DIR}/generated)
  if(with_service)
    list(APPEND outputs ${base}.grpc.pb.cc)
    list(APPEND arguments --grpc_out=${CMAKE_CURRENT_BINARY_DIR}/generated
      --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin>)
  endif()
  string(REPLACE ".cc" ".h" headers "${outputs}")
  add_custom_command(
    OUTPUT ${outputs} ${headers}
    COMMAND protobuf::protoc -I ${_sidelight_protos} -I ${_sidelight_client}/protos ${arguments}
      ${name}.proto
    DEPENDS ${root}/${name}.proto
    VERBATIM)
  set(${result} ${${result}} ${outputs} PARENT_SCOPE)
endfunction()

function(generate_contract target)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/generated)
  foreach(name image catalogue pipeline session)
    generate_proto(sources ${_sidelight_protos} sidelight/v1/${name} OFF)
  endforeach()
  foreach(name assets filter_process frame_filter sessions)
    generate_proto(sources ${_sidelight_protos} sidelight/v1/${name} ON)
  endforeach()
  generate_proto(sources ${_sidelight_protos} google/rpc/status OFF)
  generate_proto(sources ${_sidelight_client}/protos google/rpc/error_details OFF)

  add_library(${target} STATIC ${sources})
  # The warnings of generated code and of its headers are not ours to fix.
  target_compile_options(${target} PRIVATE -w)
  target_include_directories(${target} SYSTEM PUBLIC ${CMAKE_CURRENT_BINARY_DIR}/generated)
  target_compile_features(${target} PUBLIC cxx_std_17)
  target_link_libraries(${target} PUBLIC gRPC::grpc++ protobuf::libprotobuf)
endfunction()
