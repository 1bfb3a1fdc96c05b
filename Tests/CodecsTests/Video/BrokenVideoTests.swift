import SidelightCodecs
import SidelightKernels
import Testing

@Suite(.enabled(if: VideoCodec.h264.canDecode, "this build lacks the trait Codecs"))
struct `Broken video` {
  static let size = FrameSize(width: 96, height: 64)

  static func stream(_ codec: VideoCodec) throws -> EncodedStream {
    let pictures = try MovingPictures(Self.size)
    let encoder = try VideoEncoder(
      VideoEncoderSettings(codec: codec, size: Self.size, bitRate: 300_000))
    var stream = EncodedStream()
    try stream.encode((0 ..< 12).map { try pictures.frame($0) }, with: encoder, keyFrames: [8])
    return stream
  }

  @Test(arguments: VideoCodec.encoders)
  func `gives errors until the next key frame after a missing unit is known`(
    codec: VideoCodec
  ) throws {
    let units = try Self.stream(codec).units
    let decoder = try VideoDecoder(codec: codec, pool: Scene.pool, limits: ImageLimits())
    func error(_ unit: [UInt8]) -> CodecError.Code? {
      #expect(throws: CodecError.self) { try decoder.decode(unit) }?.code
    }
    #expect(error(units[1]) == .missingReference)
    _ = try decoder.decode(units[0])
    _ = try decoder.decode(units[1])
    // A unit that is cut within its header.
    #expect(error(Array(units[2].prefix(2))) != nil)
    #expect(error(units[3]) == .missingReference)
    #expect(error(units[4]) == .missingReference)
    for unit in units[8...] { _ = try decoder.decode(unit) }
  }

  @Test func `has a gap in the numbers of H.264`() throws {
    let units = try Self.stream(.h264).units
    let decoder = try VideoDecoder(codec: .h264, pool: Scene.pool, limits: ImageLimits())
    _ = try decoder.decode(units[0])
    let error = #expect(throws: CodecError.self) { try decoder.decode(units[2]) }
    #expect(error?.code == .missingReference)
  }

  @Test(arguments: VideoCodec.encoders)
  func `gives errors or pictures of the right size, and a key frame repairs it`(
    codec: VideoCodec
  ) throws {
    let units = try Self.stream(codec).units
    let limits = ImageLimits(maxPixels: 1 << 16)
    let decoder = try VideoDecoder(codec: codec, pool: Scene.pool, limits: limits)
    let whole = try VideoDecoder(codec: codec, pool: Scene.pool, limits: limits)
    let expected = try units[8...].map { Scene.packed(try whole.decode($0)) }
    var random = SeededRandom(seed: 29)
    for round in 0 ..< 150 {
      for (index, unit) in units[..<8].enumerated() {
        var unit = unit
        if index == round % 8 {
          switch round % 3 {
          case 0: unit.removeLast(Int.random(in: 1 ... unit.count, using: &random))
          case 1:
            for _ in 0 ..< 3 {
              let position = Int.random(in: 0 ..< unit.count, using: &random)
              unit[position] ^= 1 << UInt8.random(in: 0 ..< 8, using: &random)
            }
          default:
            // The header, and a hostile rest.
            for position in min(20, unit.count) ..< unit.count {
              unit[position] = UInt8.random(in: 0 ... 255, using: &random)
            }
          }
        }
        var reader = VideoHeaderReader(codec: codec, limits: limits)
        _ = try? reader.header(of: unit)
        do {
          let frame = try decoder.decode(unit)
          #expect(frame.size.pixelCount <= limits.maxPixels)
        } catch {
          #expect(error.code != .failed, "\(error)")
        }
      }
      for (index, unit) in units[8...].enumerated() {
        #expect(Scene.packed(try decoder.decode(unit)) == expected[index])
      }
    }
  }

  @Test(arguments: VideoCodec.allCases)
  func `is not a stream at all`(codec: VideoCodec) throws {
    var reader = VideoHeaderReader(codec: codec, limits: ImageLimits())
    for unit in [[], [0], [0, 0, 1], [0, 0, 0, 1], Array(repeating: 0, count: 100)] as [[UInt8]] {
      #expect(throws: CodecError.self) { try reader.header(of: unit) }
    }
  }
}
