import SidelightCodecs
import SidelightKernels
import Testing

@Suite(.enabled(if: VideoCodec.h264.canDecode, "this build lacks the trait Codecs"))
struct `The bit rate of encoded video` {
  static let size = FrameSize(width: 640, height: 360)
  static let changes = [(1_000_000, 400_000), (400_000, 1_000_000), (800_000, 1_600_000)]

  @Test(arguments: VideoCodec.encoders, Self.changes)
  func `follows a change within ten frames, up to 25 percent`(
    codec: VideoCodec, rates: (Int, Int)
  ) throws {
    for motion in [MovingPictures.Motion.pan, .call] {
      let pictures = try MovingPictures(Self.size, motion)
      let encoder = try VideoEncoder(
        VideoEncoderSettings(codec: codec, size: pictures.size, bitRate: rates.0))
      var stream = EncodedStream()
      try stream.encode(try (0 ..< 90).map { try pictures.frame($0) }, with: encoder)
      try encoder.update(bitRate: rates.1, frameRate: 30)
      try stream.encode(try (90 ..< 150).map { try pictures.frame($0) }, with: encoder)
      for start in stride(from: 90, to: 150, by: 10) {
        let bytes = stream.units[start ..< start + 10].reduce(0) { $0 + $1.count }
        let ratio = Double(bytes * 8 * 3) / Double(rates.1)
        #expect((0.75 ... 1.25).contains(ratio), "\(motion), frame \(start)")
      }
    }
  }

  // A golden frame of VP9 has four times the mean.
  @Test(arguments: VideoCodec.encoders.filter { $0 != .vp9 })
  func `has no large delta frame in a quiet scene`(codec: VideoCodec) throws {
    let pictures = try MovingPictures(Self.size, .quiet)
    let encoder = try VideoEncoder(
      VideoEncoderSettings(codec: codec, size: pictures.size, bitRate: 1_000_000))
    var stream = EncodedStream()
    try stream.encode(try (0 ..< 150).map { try pictures.frame($0) }, with: encoder)
    let sizes = stream.units[1...].map(\.count)
    #expect(sizes.reduce(0, max) * sizes.count <= 3 * sizes.reduce(0, +))
  }
}
