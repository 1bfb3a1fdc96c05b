package import SwiftProtobuf

/// The shapes of what a contract's methods take.
package struct MessageShapes: Sendable {
  private let byPath: [String: MessageShape]

  /// Those of all services that the server may have.
  package static let contract = MessageShapes(ContractDescriptors.files)

  /// - Parameter files: A set that holds whatever its files import.
  package init(_ files: Google_Protobuf_FileDescriptorSet) {
    var indices: [String: Int] = [:]
    var found: [Google_Protobuf_DescriptorProto] = []
    func collect(_ messages: [Google_Protobuf_DescriptorProto], in scope: String) {
      for message in messages {
        let name = "\(scope).\(message.name)"
        indices[name] = found.count
        found.append(message)
        collect(message.nestedType, in: name)
      }
    }
    for file in files.file {
      collect(file.messageType, in: file.package.isEmpty ? "" : ".\(file.package)")
    }
    let messages = found.map { message in
      message.field.reduce(into: [UInt32: Int]()) { fields, field in
        guard field.type == .message, let index = indices[field.typeName] else { return }
        fields[UInt32(clamping: field.number)] = index
      }
    }
    var byPath: [String: MessageShape] = [:]
    for file in files.file {
      for service in file.service {
        for method in service.method {
          guard let index = indices[method.inputType] else { continue }
          byPath["/\(file.package).\(service.name)/\(method.name)"] =
            MessageShape(messages: messages, index: index)
        }
      }
    }
    self.byPath = byPath
  }

  /// The shape of what a method takes.
  ///
  /// - Parameter path: As in HTTP/2's `:path`: `/sidelight.v1.FrameFilter/Process`.
  package func input(ofMethodAt path: String) -> MessageShape? { self.byPath[path] }
}
