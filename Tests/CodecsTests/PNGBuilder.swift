/// Builds PNG files by hand, of kinds that the encoder does not write.
struct PNGBuilder {
  var width: Int
  var height: Int
  var bitDepth: UInt8 = 8
  /// 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha.
  var colorType: UInt8
  /// Chunks between the header and the samples.
  var chunks: [(type: String, data: [UInt8])] = []
  /// The bytes of the rows, without the filter byte.
  var rows: [[UInt8]]

  var file: [UInt8] {
    var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    file += Self.chunk(
      "IHDR",
      Self.bigEndian(self.width) + Self.bigEndian(self.height)
        + [self.bitDepth, self.colorType, 0, 0, 0])
    for chunk in self.chunks { file += Self.chunk(chunk.type, chunk.data) }
    file += Self.chunk("IDAT", Self.stored(self.rows.flatMap { [0] + $0 }))
    file += Self.chunk("IEND", [])
    return file
  }

  static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
    let body = Array(type.utf8) + data
    return self.bigEndian(data.count) + body + self.bigEndian(Int(self.crc32(body)))
  }

  static func bigEndian(_ value: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  /// A zlib stream with one block that is not compressed.
  private static func stored(_ data: [UInt8]) -> [UInt8] {
    precondition(data.count < 65536)
    let count = UInt16(data.count)
    let counts = [count, ~count].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    var a: UInt32 = 1
    var b: UInt32 = 0
    for byte in data {
      a = (a + UInt32(byte)) % 65521
      b = (b + a) % 65521
    }
    return [0x78, 0x01, 0x01] + counts + data + self.bigEndian(Int(b << 16 | a))
  }

  private static func crc32(_ data: [UInt8]) -> UInt32 {
    var crc: UInt32 = 0xFFFF_FFFF
    for byte in data {
      crc ^= UInt32(byte)
      for _ in 0 ..< 8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
    }
    return ~crc
  }
}
