import SidelightCodecs
import SidelightKernels
import Testing

@Suite struct `A bad image file` {
  static let size = FrameSize(width: 24, height: 17)

  static func files() throws -> [(ImageFileFormat, [UInt8])] {
    let frame = try Scene.slopes(.rgb24, self.size)
    return try [
      (.png, ImageEncoder(.png()).encode(frame)), (.jpeg, ImageEncoder(.jpeg()).encode(frame)),
      (.jpeg, ImageEncoder(.jpeg(subsampling: .quarter)).encode(frame)),
    ]
  }

  /// The error that decoding must end with.
  func error(_ file: [UInt8], limits: ImageLimits = ImageLimits()) -> CodecError? {
    #expect(throws: CodecError.self) {
      try ImageDecoder(pool: Scene.pool, limits: limits, jpegOutput: .i420IfSubsampled).decode(file)
    }
  }

  @Test func `that was cut off anywhere is refused as truncated`() throws {
    for (format, file) in try Self.files() {
      for count in 0 ..< file.count {
        let code = self.error(Array(file.prefix(count)))?.code
        // Too short to identify the format: 8 bytes of signature, or 3.
        let isUnknown = count < (format == .png ? 8 : 3)
        #expect(code == (isUnknown ? .unknownFormat : .truncated), "\(format), \(count) bytes")
      }
    }
  }

  @Test func `with any damaged bytes is decoded or refused, and nothing worse`() throws {
    var random = SeededRandom(seed: 1)
    let pool = BufferPool()
    var refused = 0
    for (_, file) in try Self.files() {
      for _ in 0 ..< 400 {
        var bytes = file
        for _ in 0 ..< Int.random(in: 1 ... 4, using: &random) {
          bytes[Int.random(in: 0 ..< bytes.count, using: &random)] =
            UInt8.random(in: 0 ... 255, using: &random)
        }
        let limits = ImageLimits(maxPixels: 1 << 20)
        let decoder = ImageDecoder(pool: pool, limits: limits, jpegOutput: .i420IfSubsampled)
        do {
          let frame = try decoder.decode(bytes)
          #expect(frame.size.pixelCount <= limits.maxPixels)
        } catch {
          #expect(!error.message.isEmpty)
          refused += 1
        }
      }
    }
    #expect(refused > 400)
    #expect(pool.statistics.bytesInUse == 0)
  }

  @Test func `that announces too many pixels is refused before memory is taken`() throws {
    let pool = BufferPool()
    for (_, file) in try Self.files() {
      for (limits, value, limit) in [
        (ImageLimits(maxPixels: 407), "408 pixels", "407"),
        (ImageLimits(maxDimension: 23), "24x17", "23"),
      ] {
        let error = #expect(throws: CodecError.self) {
          try ImageDecoder(pool: pool, limits: limits).decode(file)
        }
        #expect(error?.code == .limitExceeded)
        #expect(error?.message.contains(value) == true)
        #expect(error?.message.contains(limit) == true)
      }
    }
    #expect(pool.statistics.misses == 0)
  }

  @Test
  func `of 16384 x 16384, 65500 x 1 or 2^31 pixels a side is refused by the default limits`() {
    for (width, height) in [(16384, 16384), (65500, 1), (1, 1 << 31), (0xFFFF_FFFF, 0xFFFF_FFFF)] {
      let png = PNGBuilder(width: width, height: height, colorType: 6, rows: [[0, 0, 0, 0]])
      #expect(self.error(png.file)?.code == .limitExceeded)
    }
    let jpeg = Self.jpegHeader(width: 65500, height: 65500) + [0xFF, 0xD9]
    #expect(self.error(jpeg)?.code == .limitExceeded)
  }

  @Test func `with a side of zero is refused`() {
    let png = PNGBuilder(width: 0, height: 5, colorType: 0, rows: [])
    #expect(self.error(png.file)?.code == .corrupt)
    #expect(self.error(Self.jpegHeader(width: 0, height: 5))?.code == .corrupt)
    #expect(self.error(Self.jpegHeader(width: 5, height: 0))?.code == .unsupported)
  }

  @Test func `of a kind that is not read is named`() {
    for (header, word) in [
      (Self.jpegHeader(components: 4), "CMYK"), (Self.jpegHeader(precision: 12), "12 bits"),
      (Self.jpegHeader(marker: 0xC3), "lossless"), (Self.jpegHeader(components: 2), "2 components"),
    ] {
      let error = self.error(header)
      #expect(error?.code == .unsupported)
      #expect(error?.message.contains(word) == true)
    }
  }

  @Test
  func `with a wrong checksum, a palette index out of range or no header is refused as corrupt`()
    throws
  {
    var file = PNGBuilder(width: 2, height: 1, colorType: 0, rows: [[1, 2]]).file
    file[29] ^= 1  // the header's checksum
    #expect(self.error(file)?.code == .corrupt)
    file[29] ^= 1
    file[15] = UInt8(ascii: "X")
    #expect(self.error(file)?.code == .corrupt)
    // A header without tables or scan.
    #expect(self.error(Self.jpegHeader() + [0xFF, 0xD9])?.code == .corrupt)
    #expect(self.error([0xFF, 0xD8, 0xFF, 0xD9])?.code == .corrupt)
  }

  @Test func `that is something else altogether is called that`() {
    let error = self.error(Array("GIF89a and so on".utf8))
    #expect(error?.code == .unknownFormat)
    #expect(error?.message == "the 16 bytes are neither PNG nor JPEG")
  }

  /// The start of a JPEG: its signature and its frame header.
  static func jpegHeader(
    marker: UInt8 = 0xC0, precision: UInt8 = 8, width: Int = 8, height: Int = 8,
    components: UInt8 = 3
  ) -> [UInt8] {
    var header: [UInt8] = [0xFF, 0xD8, 0xFF, marker, 0, 8 + 3 * components, precision]
    for side in [height, width] { header += [UInt8(side >> 8), UInt8(side & 0xFF)] }
    header.append(components)
    for component in 1 ... components { header += [component, 0x11, 0] }
    return header
  }
}
