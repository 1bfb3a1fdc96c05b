/// A constant of an ONNX model, a `TensorProto`, without its values.
///
/// OpenCV 4.6 does not compare the number of values with the dimensions, and reads behind the end
/// of too few.
struct ONNXConstant {
  /// The name; empty in attributes.
  private(set) var name = ""

  /// The bytes of an element in `raw_data`, by `TensorProto.DataType`.
  private static let elementSizes: [UInt64: Int] = [
    1: 4, 2: 1, 3: 1, 4: 2, 5: 2, 6: 4, 7: 8, 9: 1, 10: 2, 11: 8, 12: 4, 13: 8, 14: 8, 15: 16,
    16: 2,
  ]
  /// Complex numbers have two values.
  private static let complexTypes: Set<UInt64> = [14, 15]

  /// Reads and checks a constant.
  ///
  /// - Throws: ``VisionError`` with code `malformed` if it has too few or too many values.
  init(_ message: ProtobufReader) throws(VisionError) {
    var message = message
    var dimensions: [UInt64] = []
    var type: UInt64 = 0
    var rawBytes: Int?
    var count = 0
    var isExternal = false
    while let (field, value) = try message.next() {
      switch (field, value) {
      case (1, .number(let size)): dimensions.append(size)
      case (1, .bytes(let range)): dimensions += try message.numbers(range)
      case (2, .number(let number)): type = number
      case (4, .bytes(let range)): count += range.count / 4
      case (5, .number), (7, .number), (11, .number): count += 1
      case (5, .bytes(let range)), (7, .bytes(let range)), (11, .bytes(let range)):
        count += try message.numbers(range).count
      case (6, .bytes): count += 1
      case (8, .bytes(let range)): self.name = message.text(range)
      case (9, .bytes(let range)): rawBytes = range.count
      case (10, .bytes(let range)): count += range.count / 8
      case (13, .bytes): isExternal = true
      case (14, .number(let location)) where location != 0: isExternal = true
      default: break
      }
    }
    let title = "the constant \(self.name.debugDescription)"
    guard !isExternal else {
      throw VisionError(
        .unsupported, "\(title) is in another file: export with the weights in one file")
    }
    let expected = dimensions.reduce(1 as UInt64?) { product, size in
      guard let product, size <= UInt64(Int32.max) else { return nil }
      let (result, overflow) = product.multipliedReportingOverflow(by: size)
      return overflow || result > 1 << 40 ? nil : result
    }
    guard let expected else {
      throw VisionError(.malformed, "\(title) has the dimensions \(dimensions.prefix(8))")
    }
    if let rawBytes, rawBytes > 0 || count == 0 {
      guard let size = Self.elementSizes[type], rawBytes == size * Int(expected) else {
        throw VisionError(
          .malformed,
          "\(title) has \(rawBytes) bytes of type \(type); it must have \(expected) values")
      }
    } else {
      let values = Self.complexTypes.contains(type) ? count / 2 : count
      guard values == Int(expected) else {
        throw VisionError(
          .malformed, "\(title) has \(values) values; it must have \(expected)")
      }
    }
  }
}
