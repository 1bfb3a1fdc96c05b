import SidelightCodecs
import SidelightKernels
import Testing

@Suite struct PNGTests {
  let decoder = ImageDecoder(pool: Scene.pool)
  let encoder = ImageEncoder(.png())

  @Test(
    arguments: [PixelFormat.gray8, .rgb24, .rgba8],
    Scene.sizes)
  func `keeps grey, RGB and RGBA to the bit`(format: PixelFormat, size: FrameSize) throws {
    let frame = try Scene.noise(format, size)
    let back = try self.decoder.decode(try self.encoder.encode(frame))
    #expect(back.format == format)
    #expect(back.size == size)
    #expect(back.color.alpha == .straight)
    #expect(Scene.packed(back) == Scene.packed(frame))
  }

  @Test(arguments: Scene.sizes)
  func `keeps BGRA to the bit, in RGBA order`(size: FrameSize) throws {
    let frame = try Scene.noise(.bgra8, size)
    let back = try self.decoder.decode(try self.encoder.encode(frame))
    #expect(back.format == .rgba8)
    let (given, got) = (Scene.packed(frame), Scene.packed(back))
    for pixel in stride(from: 0, to: given.count, by: 4) {
      #expect(Array(got[pixel ..< pixel + 4]) == [2, 1, 0, 3].map { given[pixel + $0] })
    }
  }

  @Test(arguments: [PixelFormat.rgba8, .bgra8])
  func `leaves out alpha that is to be ignored`(format: PixelFormat) throws {
    let size = FrameSize(width: 5, height: 3)
    let frame = try Scene.noise(format, size, color: ColorDescription(alpha: .opaque))
    let back = try self.decoder.decode(try self.encoder.encode(frame))
    #expect(back.format == .rgb24)
    let order = format == .rgba8 ? [0, 1, 2] : [2, 1, 0]
    let given = Scene.packed(frame)
    let expected = (0 ..< size.pixelCount).flatMap { pixel in order.map { given[4 * pixel + $0] } }
    #expect(Scene.packed(back) == expected)
  }

  @Test func `makes premultiplied alpha straight`() throws {
    let pixels: [[UInt8]] = [[100, 50, 0, 200], [0, 0, 0, 0], [9, 9, 9, 0], [7, 255, 1, 255]]
    let frame = try Scene.frame(
      .rgba8, FrameSize(width: 4, height: 1), color: ColorDescription(alpha: .premultiplied)
    ) { _, _, column in pixels[column / 4][column % 4] }
    let back = try self.decoder.decode(try self.encoder.encode(frame))
    // 100 * 255 / 200 = 127.5 and 50 * 255 / 200 = 63.75, rounded to nearest.
    #expect(
      Scene.packed(back) == [128, 64, 0, 200, 0, 0, 0, 0, 0, 0, 0, 0, 7, 255, 1, 255])
  }

  @Test func `of equal frames has equal bytes, whatever lies in their padding`() throws {
    let size = FrameSize(width: 33, height: 20)
    let first = try self.encoder.encode(try Scene.noise(.rgb24, size))
    _ = try Scene.noise(.rgba8, FrameSize(width: 64, height: 64))
    #expect(try self.encoder.encode(try Scene.noise(.rgb24, size)) == first)
  }

  @Test func `compressed harder is smaller, and the same picture`() throws {
    let frame = try Scene.slopes(.rgb24, FrameSize(width: 200, height: 150))
    let files = try PNGCompression.allCases.map {
      try ImageEncoder(.png(compression: $0)).encode(frame)
    }
    #expect(files[1].count < files[0].count)
    for file in files {
      #expect(Scene.packed(try self.decoder.decode(file)) == Scene.packed(frame))
    }
  }

  @Test func `expands palettes`() throws {
    var png = PNGBuilder(width: 3, height: 1, colorType: 3, rows: [[2, 0, 1]])
    png.chunks = [("PLTE", [10, 20, 30, 40, 50, 60, 70, 80, 90])]
    let frame = try self.decoder.decode(png.file)
    #expect(frame.format == .rgb24)
    #expect(Scene.packed(frame) == [70, 80, 90, 10, 20, 30, 40, 50, 60])
    png.chunks.append(("tRNS", [255, 128]))
    let clear = try self.decoder.decode(png.file)
    #expect(clear.format == .rgba8)
    #expect(Scene.packed(clear) == [70, 80, 90, 255, 10, 20, 30, 255, 40, 50, 60, 128])
  }

  @Test func `expands grey of one bit, and grey with alpha`() throws {
    let bits = PNGBuilder(
      width: 9, height: 1, bitDepth: 1, colorType: 0, rows: [[0b1010_0110, 0x80]])
    let frame = try self.decoder.decode(bits.file)
    #expect(frame.format == .gray8)
    #expect(Scene.packed(frame) == [255, 0, 255, 0, 0, 255, 255, 0, 255])
    let alpha = PNGBuilder(width: 2, height: 1, colorType: 4, rows: [[7, 200, 9, 0]])
    let clear = try self.decoder.decode(alpha.file)
    #expect(clear.format == .rgba8)
    #expect(Scene.packed(clear) == [7, 7, 7, 200, 9, 9, 9, 0])
  }

  @Test func `reduces 16 bits to 8, as sRGB where the file does not say`() throws {
    let values = [0, 1000, 32768, 65535, 257 * 200, 257 * 30]
    let row = values.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    let png = PNGBuilder(width: 2, height: 1, bitDepth: 16, colorType: 2, rows: [row])
    let frame = try self.decoder.decode(png.file)
    #expect(frame.format == .rgb24)
    for (got, value) in zip(Scene.packed(frame), values) {
      #expect(abs(Double(got) - Double(value) / 257) <= 0.51)
    }
  }

  @Test(.enabled(if: Media.folder != nil))
  func `reads what others wrote, and writes it back to the bit`() throws {
    for name in ["astronaut.png", "coffee.png"] {
      let frame = try self.decoder.decode(try Media.read(name))
      #expect(frame.size.pixelCount > 100_000)
      let back = try self.decoder.decode(try self.encoder.encode(frame))
      #expect(Scene.packed(back) == Scene.packed(frame))
    }
  }
}
