import FuzzDriver
import SidelightCodecs
import SidelightKernels

// Decodes a stream of access units as a session does: headers first, then the library. The first
// byte selects the codec; two bytes, the lower one first, precede every unit and state its length.
// Without the trait Codecs only the headers are read.

/// The limits of a server's default configuration.
let limits = ImageLimits(maxPixels: 36_000_000)
let pool = BufferPool(maxIdleBytes: 0)
/// More units only repeat the states of the first ones.
let maxUnits = 8

/// Returns the units of an input. The last one may be shorter than its length states.
func units(_ bytes: ArraySlice<UInt8>) -> [[UInt8]] {
  var (rest, units): (ArraySlice<UInt8>, [[UInt8]]) = (bytes, [])
  while rest.count >= 2, units.count < maxUnits {
    let length = Int(rest[rest.startIndex]) | Int(rest[rest.startIndex + 1]) << 8
    rest = rest.dropFirst(2)
    units.append(Array(rest.prefix(length)))
    rest = rest.dropFirst(length)
  }
  return units
}

fuzz { input in
  let bytes = input.withUnsafeBytes { [UInt8]($0) }
  guard let first = bytes.first else { return }
  let codec = VideoCodec.allCases[Int(first) % VideoCodec.allCases.count]
  var reader = VideoHeaderReader(codec: codec, limits: limits)
  let decoder = try? VideoDecoder(codec: codec, pool: pool, limits: limits)
  precondition((decoder != nil) == codec.canDecode, "a decoder cannot be created")
  // Whether pictures may depend on the last one.
  var isWhole = false
  for unit in units(bytes.dropFirst()) {
    let header = try? reader.header(of: unit.span.bytes)
    if let header {
      precondition(header.size.pixelCount <= limits.maxPixels, "the header exceeds the limits")
    }
    guard let decoder else { continue }
    do throws(CodecError) {
      let frame = try decoder.decode(unit.span.bytes)
      precondition(
        frame.size == header?.size, "the header states \(String(describing: header?.size))")
      precondition(isWhole || header?.isKeyFrame == true, "a unit's reference was not decoded")
      isWhole = true
    } catch {
      precondition(error.code != .failed, "a valid stream fails: \(error)")
      precondition(decoder.memoryBytes == 0, "a decoder remains after an error")
      isWhole = false
    }
  }
}
