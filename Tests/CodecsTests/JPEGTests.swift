import SidelightCodecs
import SidelightKernels
import Testing

@Suite struct JPEGTests {
  let decoder = ImageDecoder(pool: Scene.pool)

  @Test(
    arguments: [PixelFormat.gray8, .rgb24, .rgba8, .bgra8], JPEGSubsampling.allCases)
  func `keeps a smooth picture within a few levels`(
    format: PixelFormat, subsampling: JPEGSubsampling
  ) throws {
    for size in Scene.sizes + [FrameSize(width: 65, height: 49)] {
      let frame = try Scene.slopes(format, size)
      let encoder = ImageEncoder(.jpeg(quality: 95, subsampling: subsampling))
      let back = try self.decoder.decode(try encoder.encode(frame))
      #expect(back.size == size)
      #expect(back.format == (format == .gray8 ? .gray8 : .rgb24))
      let (given, got) = (Scene.packed(frame), Scene.packed(back))
      let order = format == .bgra8 ? [2, 1, 0] : [0, 1, 2]
      let (step, channels) = format == .gray8 ? (1, 1) : (format.hasAlpha ? 4 : 3, 3)
      var worst = 0
      for pixel in 0 ..< size.pixelCount {
        for channel in 0 ..< channels {
          let was = given[step * pixel + (channels == 1 ? 0 : order[channel])]
          worst = max(worst, abs(Int(was) - Int(got[channels * pixel + channel])))
        }
      }
      #expect(worst <= (subsampling == .none ? 4 : 6), "\(size)")
    }
  }

  @Test func `is smaller at lower quality and with less chroma`() throws {
    let frame = try Scene.noise(.rgb24, FrameSize(width: 64, height: 64))
    let counts = try [
      ImageEncoder(.jpeg(quality: 95)), ImageEncoder(.jpeg(quality: 50)),
      ImageEncoder(.jpeg(quality: 50, subsampling: .quarter)),
    ].map { try $0.encode(frame).count }
    #expect(counts[0] > counts[1])
    #expect(counts[1] > counts[2])
  }

  @Test(arguments: [0, 101, -1, Int.max, Int.min])
  func `refuses a quality outside 1 ... 100`(_ quality: Int) throws {
    let frame = try Scene.noise(.gray8, FrameSize(width: 1, height: 1))
    let error = #expect(throws: CodecError.self) {
      try ImageEncoder(.jpeg(quality: quality)).encode(frame)
    }
    #expect(error?.code == .invalidOption)
    #expect(error?.message.contains("\(quality)") == true)
  }

  @Test func `of equal frames has equal bytes`() throws {
    let size = FrameSize(width: 33, height: 21)
    let encoder = ImageEncoder(format: .jpeg)
    let first = try encoder.encode(try Scene.noise(.rgb24, size))
    #expect(try encoder.encode(try Scene.noise(.rgb24, size)) == first)
  }

  @Test(arguments: Scene.sizes)
  func `of 4:2:0 is had as I420 where that is asked for, at every size`(size: FrameSize) throws {
    let file = try ImageEncoder(.jpeg(quality: 95, subsampling: .quarter))
      .encode(try Scene.slopes(.rgb24, size))
    let decoder = ImageDecoder(pool: Scene.pool, jpegOutput: .i420IfSubsampled)
    let frame = try decoder.decode(file)
    #expect(frame.format == .i420)
    #expect(frame.size == size)
    #expect(frame.color.range == .full)
    #expect(frame.color.matrix == .bt601)
    // The luma of the RGB that the library makes of the same file is the luma plane.
    let rgb = Scene.packed(try self.decoder.decode(file)).map(Double.init)
    let luma = Scene.packed(frame).prefix(size.pixelCount)
    for (pixel, value) in luma.enumerated() {
      let expected =
        0.299 * rgb[3 * pixel] + 0.587 * rgb[3 * pixel + 1] + 0.114 * rgb[3 * pixel + 2]
      #expect(abs(Double(value) - expected) <= 2)
    }
  }

  @Test(
    arguments: [PixelFormat.i420, .nv12],
    Scene.sizes)
  func `keeps the samples of a 4:2:0 frame`(format: PixelFormat, size: FrameSize) throws {
    let color = ColorDescription(range: .full, matrix: .bt601)
    let frame = try Scene.noise(format, size, color: color)
    let file = try ImageEncoder(.jpeg(quality: 100, subsampling: .quarter)).encode(frame)
    let decoder = ImageDecoder(pool: Scene.pool, jpegOutput: .i420IfSubsampled)
    let back = Scene.packed(try decoder.decode(file))
    var given = Scene.packed(frame)
    if format == .nv12 {
      let chroma = given[size.pixelCount...]
      given = Array(given[..<size.pixelCount])
      for first in [0, 1] {
        given += stride(from: first, to: chroma.count, by: 2).map { chroma[size.pixelCount + $0] }
      }
    }
    #expect(back.count == given.count)
    // Only the transform's rounding: had the noise gone through RGB, it would be clipped.
    #expect(zip(back, given).allSatisfy { abs(Int($0) - Int($1)) <= 3 })
  }

  @Test func `of 4:4:4 or grey stays RGB or grey where I420 is asked for`() throws {
    let decoder = ImageDecoder(pool: Scene.pool, jpegOutput: .i420IfSubsampled)
    let size = FrameSize(width: 16, height: 16)
    for format in [PixelFormat.rgb24, .gray8] {
      let file = try ImageEncoder(.jpeg()).encode(try Scene.slopes(format, size))
      #expect(try decoder.decode(file).format == format)
    }
  }

  @Test(.enabled(if: Media.folder != nil))
  func `of a real picture is close to it`() throws {
    let frame = try self.decoder.decode(try Media.read("astronaut.png"))
    let back = try self.decoder.decode(try ImageEncoder(.jpeg()).encode(frame))
    let (was, now) = (Scene.packed(frame), Scene.packed(back))
    let squares = zip(was, now).reduce(0) { sum, pair in
      let difference = Int(pair.0) - Int(pair.1)
      return sum + difference * difference
    }
    // 35 dB is a mean square error of 20.6.
    #expect(Double(squares) / Double(was.count) < 20.6)
  }
}
