import SidelightProtobuf
package import SwiftProtobuf

/// A message of the contract that carries pixels.
package protocol PixelMessage: SwiftProtobuf.Message {
  /// The numbers of the fields that lead to the pixels, from the outermost.
  static var pixelPath: [Int] { get }
  /// The image, if the message is of a kind that has one.
  var carriedImage: Sidelight_V1_Image? { get set }
}

extension Sidelight_V1_ClientMessage: PixelMessage {
  package static var pixelPath: [Int] { [1, 2, 15] }  // frame, image, inline

  package var carriedImage: Sidelight_V1_Image? {
    get {
      guard case .frame(let frame)? = self.kind, frame.hasImage else { return nil }
      return frame.image
    }
    set { self.frame.image = newValue ?? Sidelight_V1_Image() }
  }
}

extension Sidelight_V1_ServerMessage: PixelMessage {
  package static var pixelPath: [Int] { [1, 2, 15] }  // frame, image, inline

  package var carriedImage: Sidelight_V1_Image? {
    get {
      guard case .frame(let frame)? = self.kind, frame.hasImage else { return nil }
      return frame.image
    }
    set { self.frame.image = newValue ?? Sidelight_V1_Image() }
  }
}

/// The location of the pixels in an encoded message: the fields that lead to them, from the
/// outermost.
package struct PixelLocation: Sendable, Hashable {
  /// The last field holds the pixels.
  private let fields: [WireField]

  /// The offsets of the pixels.
  package var pixels: Range<Int> { self.fields[self.fields.count - 1].payload }

  /// Finds the pixels of a message.
  ///
  /// - Parameter path: Field numbers, from the outermost.
  /// - Returns: `nil` if the message is without pixels, or if only a decoder can judge it: it is
  ///   malformed, has groups, or has a field on the path more than once.
  package init?(_ path: [Int], in bytes: UnsafeRawBufferPointer) {
    var fields: [WireField] = []
    fields.reserveCapacity(path.count)
    var range = 0 ..< bytes.count
    for number in path {
      guard let field = WireField(number, of: bytes, in: range) else { return nil }
      fields.append(field)
      range = field.payload
    }
    self.fields = fields
  }

  /// The bytes of the message behind its pixels.
  package func suffix(of bytes: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
    bytes[self.pixels.upperBound...]
  }

  /// Appends the message up to the first pixel, as it is encoded with `count` bytes of pixels.
  package func appendPrefix(
    of bytes: UnsafeRawBufferPointer, pixelByteCount count: Int, to prefix: inout [UInt8]
  ) {
    // The length of a field covers the bytes before the next field, that field, and the bytes after
    // it.
    var lengths = [Int](repeating: count, count: self.fields.count)
    for index in self.fields.indices.dropLast().reversed() {
      let (field, inner) = (self.fields[index], self.fields[index + 1])
      lengths[index] =
        field.payload.count - (inner.payload.upperBound - inner.start)
        + inner.tag.varintByteCount + UInt64(lengths[index + 1]).varintByteCount
        + lengths[index + 1]
    }
    var copied = 0
    for (field, length) in zip(self.fields, lengths) {
      prefix.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[copied ..< field.start]))
      prefix.appendVarint(field.tag)
      prefix.appendVarint(UInt64(length))
      copied = field.payload.lowerBound
    }
  }

  package func messageWithoutPixels(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var message: [UInt8] = []
    message.reserveCapacity(bytes.count - self.pixels.count)
    self.appendPrefix(of: bytes, pixelByteCount: 0, to: &message)
    message.append(contentsOf: UnsafeRawBufferPointer(rebasing: self.suffix(of: bytes)))
    return message
  }
}

extension UInt64 {
  /// The bytes of the number in protobuf's variable-length encoding.
  fileprivate var varintByteCount: Int {
    (UInt64.bitWidth - (self | 1).leadingZeroBitCount + 6) / 7
  }
}

extension [UInt8] {
  /// Appends a number in protobuf's variable-length encoding.
  fileprivate mutating func appendVarint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      self.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    self.append(UInt8(rest))
  }
}

/// The position of a length-delimited field in an encoded protobuf message.
private struct WireField: Sendable, Hashable {
  var number: Int
  /// The offset of its tag.
  var start: Int
  /// The offsets of its payload.
  var payload: Range<Int>

  var tag: UInt64 { UInt64(self.number) << 3 | 2 }

  /// Finds the only field with a number.
  ///
  /// - Returns: `nil` if the field is missing, is not length-delimited, or occurs several times:
  ///   its values would have to be merged; also if the message is malformed.
  init?(_ number: Int, of bytes: UnsafeRawBufferPointer, in range: Range<Int>) {
    var reader = ProtobufReader(bytes, in: range)
    var found: WireField?
    do {
      while let field = try reader.next() {
        guard field.number == number else { continue }
        guard found == nil, case .bytes(let payload) = field.value else { return nil }
        found = WireField(number: number, start: field.start, payload: payload)
      }
    } catch {
      return nil
    }
    guard let found else { return nil }
    self = found
  }

  private init(number: Int, start: Int, payload: Range<Int>) {
    self.number = number
    self.start = start
    self.payload = payload
  }
}
