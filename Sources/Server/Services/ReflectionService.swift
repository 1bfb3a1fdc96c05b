import Foundation
import GRPCCore
import GRPCProtobuf
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// `grpc.reflection.v1.ServerReflection`, for tools that discover services. It also answers under
/// its older name `v1alpha`, which has the same messages.
struct ReflectionService: Grpc_Reflection_V1_ServerReflection.SimpleServiceProtocol {
  typealias Request = Grpc_Reflection_V1_ServerReflectionRequest
  typealias Response = Grpc_Reflection_V1_ServerReflectionResponse

  /// The current and the older name of this service.
  static let names = [
    "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection",
  ]

  /// The maximum size of a request, in bytes.
  static let maxRequestBytes = 4096

  let index: DescriptorIndex

  /// - Parameter services: The full names of the server's services.
  init(services: [String]) {
    self.index = DescriptorIndex(files: ContractDescriptors.files, services: services)
  }

  func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
    for name in Self.names {
      router.registerHandler(
        forMethod: MethodDescriptor(
          service: ServiceDescriptor(fullyQualifiedService: name), method: "ServerReflectionInfo"),
        deserializer: ProtobufDeserializer<Request>(), serializer: ProtobufSerializer<Response>()
      ) { request, context in
        try await self.serverReflectionInfo(request: request, context: context)
      }
    }
  }

  func serverReflectionInfo(
    request: RPCAsyncSequence<Request, any Error>, response: RPCWriter<Response>,
    context: ServerContext
  ) async throws {
    try await context.untilCancelled {
      for try await query in request { try await response.write(self.response(to: query)) }
    }
  }

  private func response(to request: Request) -> Response {
    var response = Response()
    // The response repeats the request, so the request must be small.
    guard request.byteCount <= Self.maxRequestBytes else {
      response.errorResponse.errorCode = Int32(Status.Code.invalidArgument.rawValue)
      response.errorResponse.errorMessage =
        "the request has \(request.byteCount) bytes; the limit is \(Self.maxRequestBytes)"
      return response
    }
    response.validHost = request.host
    response.originalRequest = request
    switch request.messageRequest {
    case .listServices?:
      response.listServicesResponse.service = self.index.services.map { name in
        .with { $0.name = name }
      }
    case .fileByFilename(let name)?:
      response.set(self.index.files(named: name), missing: "file", name)
    case .fileContainingSymbol(let symbol)?:
      response.set(self.index.files(declaring: symbol), missing: "symbol", symbol)
    case .fileContainingExtension(let query)?:
      response.set(nil, missing: "extension of", query.containingType)
    case .allExtensionNumbersOfType(let type)?:
      if self.index.files(declaring: type) != nil {
        response.allExtensionNumbersResponse.baseTypeName = type
      } else {
        response.set(nil, missing: "message", type)
      }
    case nil:
      response.errorResponse.errorCode = Int32(Status.Code.invalidArgument.rawValue)
      response.errorResponse.errorMessage = "message_request: is not set"
    }
    return response
  }
}

extension Grpc_Reflection_V1_ServerReflectionResponse {
  /// Sets the descriptors, or NOT_FOUND.
  ///
  /// - Parameters:
  ///   - files: Serialized descriptors, if any.
  ///   - kind: The kind of the requested symbol.
  fileprivate mutating func set(_ files: [Data]?, missing kind: String, _ name: String) {
    if let files {
      self.fileDescriptorResponse.fileDescriptorProto = files
    } else {
      self.errorResponse.errorCode = Int32(Status.Code.notFound.rawValue)
      self.errorResponse.errorMessage = "there is no \(kind) '\(name.clipped(toBytes: 128))'"
    }
  }
}

/// An index of descriptor files, by their names and the symbols that they declare.
struct DescriptorIndex: Sendable {
  /// The full names of the services, sorted.
  let services: [String]
  private var files: [String: Google_Protobuf_FileDescriptorProto] = [:]
  /// The file that declares a full name.
  private var fileOfSymbol: [String: String] = [:]

  /// - Parameters:
  ///   - files: The files, with all that they import.
  ///   - services: The full names of the server's services.
  init(files: Google_Protobuf_FileDescriptorSet, services: [String]) {
    self.services = services.sorted()
    for file in files.file {
      self.files[file.name] = file
      let scope = file.package.isEmpty ? "" : "\(file.package)."
      for message in file.messageType { self.declare(message, in: scope, file.name) }
      for type in file.enumType { self.declare(type, in: scope, file.name) }
      for service in file.service {
        self.fileOfSymbol[scope + service.name] = file.name
        for method in service.method {
          self.fileOfSymbol["\(scope)\(service.name).\(method.name)"] = file.name
        }
      }
    }
  }

  /// Returns a file and all files that it imports, serialized, the file itself first.
  ///
  /// - Returns: `nil` if the file is unknown.
  func files(named name: String) -> [Data]? {
    guard self.files[name] != nil else { return nil }
    var found: [Data] = []
    var names = [name]
    var seen: Set = [name]
    while let file = names.popLast().flatMap({ self.files[$0] }) {
      // Messages without required fields can always be serialized.
      if let bytes: Data = try? file.serializedBytes() { found.append(bytes) }
      for dependency in file.dependency where seen.insert(dependency).inserted {
        names.append(dependency)
      }
    }
    return found
  }

  /// Returns the file that declares a symbol, and all files that it imports.
  ///
  /// - Parameter symbol: A full name, of a service, a method, a message, a field or an enum.
  /// - Returns: `nil` if the symbol is unknown.
  func files(declaring symbol: String) -> [Data]? {
    self.fileOfSymbol[symbol].flatMap { self.files(named: $0) }
  }

  private mutating func declare(
    _ message: Google_Protobuf_DescriptorProto, in scope: String, _ file: String
  ) {
    let name = scope + message.name
    self.fileOfSymbol[name] = file
    for field in message.field { self.fileOfSymbol["\(name).\(field.name)"] = file }
    for nested in message.nestedType { self.declare(nested, in: "\(name).", file) }
    for type in message.enumType { self.declare(type, in: "\(name).", file) }
  }

  private mutating func declare(
    _ type: Google_Protobuf_EnumDescriptorProto, in scope: String, _ file: String
  ) {
    self.fileOfSymbol[scope + type.name] = file
    // An enum's values have the scope of the enum itself.
    for value in type.value { self.fileOfSymbol[scope + value.name] = file }
  }
}
