import SidelightCodecs
import SidelightKernels
import Testing

@Suite(.enabled(if: VideoCodec.h264.canDecode, "this build lacks the trait Codecs"))
struct `The bit rate of encoded video` {
  static let size = FrameSize(width: 640, height: 360)
  static let changes = [(1_000_000, 400_000), (400_000, 1_000_000), (800_000, 1_600_000)]

  @Test(arguments: VideoCodec.encoders, Self.changes)
  func `follows a change within ten frames`(codec: VideoCodec, rates: (Int, Int)) throws {
    for motion in [MovingPictures.Motion.pan, .call] {
      let pictures = try MovingPictures(Self.size, motion)
      let encoder = try VideoEncoder(
        VideoEncoderSettings(codec: codec, size: pictures.size, bitRate: rates.0))
      var stream = EncodedStream()
      try stream.encode(try (0 ..< 90).map { try pictures.frame($0) }, with: encoder)
      try encoder.update(bitRate: rates.1, frameRate: 30)
      try stream.encode(try (90 ..< 180).map { try pictures.frame($0) }, with: encoder)
      func rate(_ frames: Range<Int>) -> Int {
        stream.units[frames].reduce(0) { $0 + $1.count } * 8 * 30 / frames.count
      }
      print(codec, rates, motion, rate(1 ..< 30), rate(30 ..< 60), rate(60 ..< 90), "|", rate(90 ..< 100), rate(100 ..< 110), rate(110 ..< 120), rate(120 ..< 150), rate(150 ..< 180), "max", stream.units[1...].map(\.count).max()!)
    }
  }

  @Test(arguments: VideoCodec.encoders)
  func `quiet`(codec: VideoCodec) throws {
      let pictures = try MovingPictures(Self.size, .quiet)
      let encoder = try VideoEncoder(
        VideoEncoderSettings(codec: codec, size: pictures.size, bitRate: 1_000_000))
      var stream = EncodedStream()
      try stream.encode(try (0 ..< 150).map { try pictures.frame($0) }, with: encoder)
      let sizes = stream.units[1...].map(\.count)
      print(codec, "quiet mean", sizes.reduce(0,+)/sizes.count, "max", sizes.max()!, sizes.firstIndex(of: sizes.max()!)!, sizes.prefix(40))
  }
}
