import Foundation
package import SwiftProtobuf

/// The fields of a message that are messages themselves, recursively: the information for counting
/// the fields of an encoded message.
package struct MessageShape: Sendable {
  /// The indices of the fields' message types, by field number, for each message of a contract.
  fileprivate let messages: [[UInt32: Int]]
  /// The index of this message.
  fileprivate let index: Int

  /// Returns the shape of a field, or `nil` if the field is unknown or isn't a message.
  package func field(_ number: UInt32) -> MessageShape? {
    self.messages[self.index][number].map { MessageShape(messages: self.messages, index: $0) }
  }
}

/// The shapes of the request messages of a contract's methods.
package struct MessageShapes: Sendable {
  private let byPath: [String: MessageShape]

  /// The shapes of all services of the server.
  package static let contract = MessageShapes(ContractDescriptors.files)

  /// - Parameter files: A set of files, closed under imports.
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

  /// Returns the shape of a method's request message.
  ///
  /// - Parameter path: As in HTTP/2's `:path`: `/sidelight.v1.FrameFilter/Process`.
  package func input(ofMethodAt path: String) -> MessageShape? { self.byPath[path] }
}

extension ContractDescriptors {
  /// Every file of the contract and of its imports. Decoded once, at the first use.
  package static let files: Google_Protobuf_FileDescriptorSet = {
    let bytes = Data(base64Encoded: Self.base64) ?? Data()
    // Generated together with the code that reads them; a test checks that they are complete.
    return (try? Google_Protobuf_FileDescriptorSet(serializedBytes: bytes)) ?? .init()
  }()
}
