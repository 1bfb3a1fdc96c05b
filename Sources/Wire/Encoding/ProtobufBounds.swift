import Foundation
package import SwiftProtobuf

/// Counts the fields of a protobuf message, and of the messages in it, before it is decoded: an
/// empty sub-message has two bytes on the wire, and a hundred times as many in memory.
///
/// It reads only tags and lengths, in pieces of any size, and skips the rest. The decoder refuses
/// unreadable messages.
package struct ProtobufBounds: Sendable {
  /// A reason not to decode a message.
  package enum Violation: Error, Hashable, Sendable {
    /// The message has more fields than the limit.
    case tooManyFields(limit: Int)
    /// The message is nested deeper than the limit.
    case tooDeep(limit: Int)
  }

  /// The nesting depth beyond which SwiftProtobuf refuses to decode.
  package static let maxDepth = 100

  /// The depth of a frame's message, for which memory is reserved at once.
  private static let commonDepth = 4

  private enum Step {
    case tag
    case varint
    case length(MessageShape?)
  }

  private let maxFields: Int
  private var fieldCount = 0
  private var open: [(shape: MessageShape, end: Int)]
  private var position = 0
  private var skipped = 0
  private var step = Step.tag
  private var value: UInt64 = 0
  private var shift: UInt64 = 0
  private var isReadable = true

  /// - Parameters:
  ///   - length: The bytes of the whole message.
  ///   - maxFields: The maximum number of the message's fields.
  package init(shape: MessageShape, length: Int, maxFields: Int) {
    self.maxFields = maxFields
    self.open = []
    self.open.reserveCapacity(Self.commonDepth)
    self.open.append((shape, length))
  }

  /// Checks a complete message.
  package static func check(
    _ bytes: Span<UInt8>, as shape: MessageShape, maxFields: Int
  ) throws(Violation) {
    var bounds = ProtobufBounds(shape: shape, length: bytes.count, maxFields: maxFields)
    try bounds.scan(bytes)
  }

  /// Scans the next bytes. It runs on an event loop that carries other calls too, so it must be
  /// quick for every input.
  package mutating func scan(_ bytes: Span<UInt8>) throws(Violation) {
    var index = 0
    while self.isReadable, index < bytes.count {
      if self.skipped > 0 {
        let count = min(self.skipped, bytes.count - index)
        self.skipped -= count
        self.position += count
        index += count
      } else {
        self.position += 1
        try self.read(bytes[index])
        index += 1
      }
    }
  }

  private mutating func read(_ byte: UInt8) throws(Violation) {
    guard self.shift < 64 else { return self.isReadable = false }
    self.value |= UInt64(byte & 0x7F) << self.shift
    guard byte < 0x80 else { return self.shift += 7 }
    let value = self.value
    (self.value, self.shift) = (0, 0)
    switch self.step {
    case .tag: try self.read(tag: value)
    case .varint: self.step = .tag
    case .length(let shape): try self.read(length: value, of: shape)
    }
  }

  private mutating func read(tag: UInt64) throws(Violation) {
    while self.open.count > 1, let last = self.open.last, self.position > last.end {
      self.open.removeLast()
    }
    self.fieldCount += 1
    guard self.fieldCount <= self.maxFields else { throw .tooManyFields(limit: self.maxFields) }
    switch tag & 7 {
    case 0: self.step = .varint
    case 1: self.skipped = 8
    case 2: self.step = .length(self.open.last?.shape.field(UInt32(truncatingIfNeeded: tag >> 3)))
    case 3, 4: break
    case 5: self.skipped = 4
    default: self.isReadable = false
    }
  }

  private mutating func read(length: UInt64, of shape: MessageShape?) throws(Violation) {
    self.step = .tag
    guard let end = self.open.last?.end, length <= UInt64(max(0, end - self.position)) else {
      return self.isReadable = false
    }
    guard let shape else { return self.skipped = Int(length) }
    guard self.open.count <= Self.maxDepth else { throw .tooDeep(limit: Self.maxDepth) }
    self.open.append((shape, self.position + Int(length)))
  }
}

/// The fields of a message that are messages themselves, recursively: the information for counting
/// the fields of an encoded message.
package struct MessageShape: Sendable {
  /// The indices of the fields' message types, by field number, for every message of a contract.
  fileprivate let messages: [[UInt32: Int]]
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
