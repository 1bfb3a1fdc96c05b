/// A constant of an ONNX model (`TensorProto`), with as many values as its dimensions require.
///
/// OpenCV believes the dimensions: it reads beyond the values, or divides by a dimension of 0.
struct ONNXConstant {
  private(set) var name = ""

  private var dimensions: [UInt64] = []
  private var type: UInt64 = 0
  private var isExternal = false
  // The number of values per field that may hold them, and of bytes in `raw_data`.
  private var floats = 0
  private var integers = 0
  private var longs = 0
  private var doubles = 0
  private var rawBytes = 0

  /// Reads a constant.
  ///
  /// - Throws: ``VisionError`` if the values are in another file, or don't match the dimensions.
  init(_ message: ProtobufReader) throws(VisionError) {
    var message = message
    while let (field, value) = try message.next() {
      switch (field, value) {
      case (1, .number(let size)): self.dimensions.append(size)
      case (1, .bytes(let range)):
        var sizes = message.message(range)
        while let size = try sizes.nextNumber() { self.dimensions.append(size) }
      case (2, .number(let type)): self.type = type
      case (4, .bytes(let range)): self.floats += range.count / 4
      case (5, _): self.integers += try Self.count(value, in: message)
      case (7, _): self.longs += try Self.count(value, in: message)
      case (8, .bytes(let range)): self.name = message.text(range)
      case (9, .bytes(let range)): self.rawBytes = range.count
      case (10, .bytes(let range)): self.doubles += range.count / 8
      case (14, .number(let location)): self.isExternal = location != 0
      default: break
      }
    }
    try self.check()
  }

  /// The number of integers in a field, which can be packed.
  private static func count(
    _ value: ProtobufReader.Value, in message: ProtobufReader
  ) throws(VisionError) -> Int {
    guard case .bytes(let range) = value else { return 1 }
    var numbers = message.message(range)
    var count = 0
    while try numbers.nextNumber() != nil { count += 1 }
    return count
  }

  private func check() throws(VisionError) {
    guard !self.isExternal else {
      throw VisionError(
        .unsupported, "the constant \(self.name) is in another file: export the model as one file")
    }
    // The size of a value in `raw_data`, and the number of values in the field of the type.
    let (size, values): (Int, Int)
    switch self.type {
    case 1: (size, values) = (4, self.floats)
    case 2, 3, 9: (size, values) = (1, self.integers)
    case 4, 5, 10, 16: (size, values) = (2, self.integers)
    case 6: (size, values) = (4, self.integers)
    case 7: (size, values) = (8, self.longs)
    case 11: (size, values) = (8, self.doubles)
    default: return
    }
    // Lists can be empty. OpenCV divides by the dimensions of other constants.
    guard self.dimensions.count == 1 || !self.dimensions.contains(0) else {
      throw VisionError(.malformed, "the constant \(self.name) has a dimension of 0")
    }
    var expected: UInt64 = 1
    for dimension in self.dimensions {
      let (product, overflow) = expected.multipliedReportingOverflow(by: dimension)
      expected = overflow ? .max : product
    }
    let count = values == 0 ? self.rawBytes / size : values
    let isWhole = values == 0 ? self.rawBytes % size == 0 : self.rawBytes == 0
    guard isWhole, UInt64(count) == expected else {
      throw VisionError(
        .malformed,
        "the constant \(self.name) has \(count) values; its dimensions say \(expected)")
    }
  }
}
