import SidelightCodecs
import SidelightKernels
import Testing

/// A stream of ffmpeg: an encoder and its options.
struct PeerStream: Sendable, CustomTestStringConvertible {
  let codec: VideoCodec
  let size: FrameSize
  let options: String

  init(_ codec: VideoCodec, _ width: Int, _ height: Int, _ options: String) {
    self.codec = codec
    self.size = FrameSize(width: width, height: height)
    self.options = options
  }

  var testDescription: String { "\(self.codec.name) \(self.size) \(self.options)" }
}

@Suite(
  .enabled(if: VideoCodec.h264.canDecode, "this build lacks the trait Codecs"),
  .enabled(if: FFmpeg.isInstalled, "ffmpeg is not installed"))
struct `Encoded video of ffmpeg` {
  static let streams = [
    PeerStream(.h264, 322, 182, "-c:v libx264 -profile:v baseline -g 10"),
    PeerStream(.h264, 320, 176, "-c:v libx264 -profile:v main -bf 0 -refs 4 -weightp 2 -g 10"),
    PeerStream(.h264, 66, 50, "-c:v libx264 -profile:v high -bf 0 -x264-params slices=3:8x8dct=1"),
    PeerStream(.h264, 322, 182, "-c:v libx264 -bf 0 -colorspace bt709 -x264-params aud=1"),
    PeerStream(.vp8, 321, 181, "-c:v libvpx -deadline realtime -g 10 -auto-alt-ref 0"),
    PeerStream(.vp8, 33, 17, "-c:v libvpx -slices 4 -error-resilient 1 -auto-alt-ref 0"),
    PeerStream(.vp9, 321, 181, "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 10"),
    PeerStream(.vp9, 163, 91, "-c:v libvpx-vp9 -cpu-used 5 -auto-alt-ref 1 -lag-in-frames 16"),
    PeerStream(.vp9, 322, 182, "-c:v libvpx-vp9 -deadline realtime -colorspace bt709"),
    PeerStream(.av1, 321, 181, "-c:v libaom-av1 -usage realtime -cpu-used 8 -g 10"),
    PeerStream(.av1, 163, 91, "-c:v libaom-av1 -cpu-used 8 -lag-in-frames 16"),
    PeerStream(.av1, 322, 182, "-c:v libsvtav1 -preset 10 -svtav1-params film-grain=10"),
  ]

  @Test(arguments: Self.streams)
  func `decodes to the pictures of ffmpeg`(stream: PeerStream) throws {
    let file = try FFmpeg.encoded(stream.codec, stream.size, stream.options)
    let expected = try FFmpeg.decoded(file, stream.codec, stream.size)
    let units = try FFmpeg.units(stream.codec, stream.size, stream.options)
    let decoder = try VideoDecoder(codec: stream.codec, pool: Scene.pool, limits: ImageLimits())
    #expect(units.count == expected.count)
    for (index, unit) in units.enumerated() {
      let frame = try decoder.decode(unit)
      #expect(Scene.packed(frame) == expected[index], "picture \(index)")
    }
  }

  @Test(arguments: Self.streams)
  func `has the key frames, size and colours that ffprobe states`(stream: PeerStream) throws {
    let file = try FFmpeg.encoded(stream.codec, stream.size, stream.options)
    let units = try FFmpeg.units(stream.codec, stream.size, stream.options)
    var reader = VideoHeaderReader(codec: stream.codec, limits: ImageLimits())
    let headers = try units.map { try reader.header(of: $0) }
    let flags = try FFmpeg.probe(file, stream.codec, "packet=flags")
    #expect(headers.map(\.isKeyFrame) == flags.map { $0.hasPrefix("K") })
    #expect(headers.allSatisfy { $0.size == stream.size })
    let space = try FFmpeg.probe(file, stream.codec, "stream=color_space").first ?? ""
    #expect(headers[0].color.matrix == (space.contains("bt709") ? .bt709 : .bt601), "\(space)")
    #expect(headers[0].color.range == .video)
  }
}

@Suite(.enabled(if: FFmpeg.isInstalled, "ffmpeg is not installed"))
struct `Encoded video that is not supported` {
  static let streams = [
    (PeerStream(.h264, 320, 180, "-c:v libx264 -bf 2"), "B-frames"),
    (PeerStream(.h264, 320, 180, "-c:v libx264 -x264-params interlaced=1"), "interlaced"),
    (PeerStream(.h264, 320, 180, "-c:v libx264 -pix_fmt yuv444p"), "profile is 244"),
    (PeerStream(.h264, 320, 180, "-c:v libx264 -pix_fmt yuv420p10le"), "profile is 110"),
    (PeerStream(.h264, 320, 180, "-c:v libx264 -pix_fmt gray -bf 0"), "8 bits and 4:2:0"),
    (PeerStream(.h264, 1920, 1080, "-c:v libx264 -bf 0"), "the limit is 1000000"),
    (PeerStream(.vp8, 1920, 1080, "-c:v libvpx -deadline realtime"), "the limit is 1000000"),
    (PeerStream(.vp9, 1920, 1080, "-c:v libvpx-vp9 -deadline realtime -cpu-used 8"), "1000000"),
    (
      PeerStream(.vp9, 320, 180, "-c:v libvpx-vp9 -deadline realtime -pix_fmt yuv444p"), "profile 0"
    ),
    (PeerStream(.vp9, 320, 180, "-c:v libvpx-vp9 -deadline realtime -pix_fmt gbrp"), "profile 0"),
    (PeerStream(.av1, 1920, 1080, "-c:v libaom-av1 -usage realtime -cpu-used 8"), "1000000"),
    (PeerStream(.av1, 320, 180, "-c:v libaom-av1 -cpu-used 8 -pix_fmt yuv420p10le"), "8 bits"),
    (PeerStream(.av1, 320, 180, "-c:v libaom-av1 -cpu-used 8 -pix_fmt yuv444p"), "Main"),
    (PeerStream(.av1, 320, 180, "-c:v libaom-av1 -cpu-used 8 -pix_fmt gray"), "4:2:0"),
  ]

  @Test(arguments: Self.streams)
  func `is refused with the reason`(stream: PeerStream, reason: String) throws {
    let units = try FFmpeg.units(stream.codec, stream.size, frames: 6, stream.options)
    var reader = VideoHeaderReader(codec: stream.codec, limits: ImageLimits(maxPixels: 1_000_000))
    let error = #expect(throws: CodecError.self) {
      for unit in units { _ = try reader.header(of: unit) }
    }
    #expect(error?.code == .unsupported || error?.code == .limitExceeded)
    #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
  }

  @Test(
    arguments: [
      (VideoCodec.h264, "-c:v libx264 -bf 0"), (.vp9, "-c:v libvpx-vp9 -deadline realtime"),
      (.av1, "-c:v libaom-av1 -usage realtime -cpu-used 8"),
    ])
  func `has two pictures in a unit`(codec: VideoCodec, options: String) throws {
    let units = try FFmpeg.units(codec, FrameSize(width: 64, height: 64), frames: 3, options)
    var both = units[0] + units[1]
    if codec == .vp9 {  // an index makes it a superframe
      let marker: UInt8 = 0xC9 + 8
      both += [marker]
      for unit in units[...1] { both += (0 ..< 3).map { UInt8(unit.count >> (8 * $0) & 255) } }
      both += [marker]
    }
    var reader = VideoHeaderReader(codec: codec, limits: ImageLimits())
    let error = #expect(throws: CodecError.self) { try reader.header(of: both) }
    #expect(error?.code == .unsupported, "\(String(describing: error))")
    // The refused unit did not change the reader.
    #expect(try reader.header(of: units[0]).isKeyFrame)
    #expect(try !reader.header(of: units[1]).isKeyFrame)
  }

  @Test func `has data partitions, slice groups, or slices in another order`() throws {
    let units = try FFmpeg.units(
      .h264, FrameSize(width: 64, height: 64), frames: 2, "-c:v libx264 -bf 0 -slices 2")
    func reason(_ unit: [UInt8]) -> String? {
      var reader = VideoHeaderReader(codec: .h264, limits: ImageLimits())
      let error = #expect(throws: CodecError.self) {
        _ = try reader.header(of: units[0])
        _ = try reader.header(of: unit)
      }
      return error?.message
    }
    let slices = Self.split(units[1]).filter { $0[0] & 31 == 1 }.map { [UInt8]($0) }
    try #require(slices.count == 2)
    let partition: [[UInt8]] = [[slices[0][0] & 0xE0 | 2] + slices[0].dropFirst()]
    #expect(reason(Self.joined(partition))?.contains("data partitions") == true)
    #expect(reason(Self.joined([slices[1]]))?.contains("first slice") == true)
    #expect(reason(Self.joined([slices[0], slices[1], slices[1]]))?.contains("order") == true)
    // A picture parameter set with the numbers 0 and 0 and two slice groups: 1 1 0 0 010.
    let groups: [UInt8] = [0x68, 0b1100_0101, 0xFF, 0xFF]
    #expect(reason(Self.joined([groups] + slices))?.contains("slice groups") == true)
  }

  private static func split(_ unit: [UInt8]) -> [ArraySlice<UInt8>] {
    let starts = unit.indices.dropLast(3).filter { unit[$0 ..< $0 + 3] == [0, 0, 1] }
    return zip(starts, starts.dropFirst() + [unit.count])
      .map { unit[$0 + 3 ..< $1] }
      .map { part in
        var part = part
        while part.last == 0 { part.removeLast() }
        return ArraySlice(Array(part))
      }
  }

  private static func joined(_ parts: [some Collection<UInt8>]) -> [UInt8] {
    parts.flatMap { [0, 0, 0, 1] + $0 }
  }
}
