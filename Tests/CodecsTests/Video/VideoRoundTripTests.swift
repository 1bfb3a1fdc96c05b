import SidelightCodecs
import SidelightKernels
import Testing

@Suite(.enabled(if: VideoCodec.h264.canDecode, "this build lacks the trait Codecs"))
struct `Encoded video` {
  @Test(arguments: VideoCodec.encoders, [1, 2, 3])
  func `decodes to pictures like the encoded ones`(codec: VideoCodec, layers: Int) throws {
    let pictures = try MovingPictures(FrameSize(width: 320, height: 180))
    let encoder = try VideoEncoder(
      VideoEncoderSettings(
        codec: codec, size: pictures.size, bitRate: 1_000_000, temporalLayers: layers))
    let decoder = try VideoDecoder(codec: codec, pool: Scene.pool, limits: ImageLimits())
    var reader = VideoHeaderReader(codec: codec, limits: ImageLimits())
    let frames = try (0 ..< 40).map { try pictures.frame($0) }
    var stream = EncodedStream()
    try stream.encode(frames, with: encoder, keyFrames: [0, 22])
    #expect(stream.facts.indices.filter { stream.facts[$0].isKeyFrame } == [0, 22])
    #expect(
      stream.facts.map(\.isDisposable)
        == stream.facts.map { layers > 1 && $0.temporalLayer == layers - 1 })
    for (index, unit) in stream.units.enumerated() {
      let header = try reader.header(of: unit)
      #expect(header.size == pictures.size)
      #expect(header.isKeyFrame == stream.facts[index].isKeyFrame)
      #expect(header.isDisposable == stream.facts[index].isDisposable)
      let decoded = try decoder.decode(unit)
      #expect(decoded.geometry == frames[index].geometry)
      let quality = psnr(decoded, frames[index])
      #expect(quality > 28, "\(codec) \(layers) \(index) \(stream.facts[index])")
    }
  }
}
