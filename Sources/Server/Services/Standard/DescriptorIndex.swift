import Foundation
import SwiftProtobuf

/// Finds files of a contract by their names and by what they declare.
struct DescriptorIndex: Sendable {
  /// The services that are told of, in order.
  let services: [String]
  private var files: [String: Google_Protobuf_FileDescriptorProto] = [:]
  /// The file that declares a full name.
  private var fileOfSymbol: [String: String] = [:]

  /// - Parameters:
  ///   - files: The files, with all that they import.
  ///   - services: The services that the server has.
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

  /// A file and all that it imports, serialized, itself first.
  ///
  /// - Returns: `nil` if there is no file of that name.
  func files(named name: String) -> [Data]? {
    guard self.files[name] != nil else { return nil }
    var found: [Data] = []
    var names = [name]
    var seen: Set = [name]
    while let file = names.popLast().flatMap({ self.files[$0] }) {
      if let bytes: Data = try? file.serializedBytes() { found.append(bytes) }
      for dependency in file.dependency where seen.insert(dependency).inserted {
        names.append(dependency)
      }
    }
    return found
  }

  /// The file that declares a symbol, and all that it imports.
  ///
  /// - Parameter symbol: A full name, of a service, a method, a message, a field or an enum.
  /// - Returns: `nil` if no file declares it.
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
    // An enum's values stand beside it, not in it.
    for value in type.value { self.fileOfSymbol[scope + value.name] = file }
  }
}
