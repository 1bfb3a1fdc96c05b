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
  /// - Returns: `nil` if the message has no pixels, or if only a decoder can judge it: it is
  ///   malformed, has groups, or has a field on the path more than once.
  package init?(_ path: [Int], in bytes: UnsafeRawBufferPointer) {
    var fields: [WireField] = []
    var range = 0 ..< bytes.count
    for number in path {
      guard let field = try? WireFieldCursor.only(number, of: bytes, in: range) else { return nil }
      fields.append(field)
      range = field.payload
    }
    self.fields = fields
  }

  /// Returns the message up to the first pixel, as it is encoded with `count` bytes of pixels.
  package func prefix(
    of bytes: UnsafeRawBufferPointer, pixelByteCount count: Int
  ) -> [UInt8] {
    // The length of each field covers the bytes before the next field, that field, and the bytes
    // after it.
    var headers: [[UInt8]] = []
    var inner: (field: WireField, byteCount: Int)?
    for field in self.fields.reversed() {
      let length =
        inner.map { inner in
          (inner.field.start - field.payload.lowerBound) + inner.byteCount
            + (field.payload.upperBound - inner.field.payload.upperBound)
        } ?? count
      var header: [UInt8] = []
      header.appendVarint(UInt64(field.number) << 3 | 2)
      header.appendVarint(UInt64(length))
      inner = (field, header.count + length)
      headers.append(header)
    }
    var prefix: [UInt8] = []
    var copied = 0
    for (field, header) in zip(self.fields, headers.reversed()) {
      prefix.append(contentsOf: bytes[copied ..< field.start])
      prefix.append(contentsOf: header)
      copied = field.payload.lowerBound
    }
    return prefix
  }

  /// Returns the message behind its pixels.
  package func suffix(of bytes: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
    bytes[self.pixels.upperBound...]
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
