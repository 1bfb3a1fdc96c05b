package import SidelightKernels

#if Codecs
  import CDav1d
  import COpenH264
  import CVPX
#endif

/// A codec of video whose pictures are predicted from earlier ones.
public enum VideoCodec: String, Sendable, Hashable, CaseIterable {
  /// ITU-T H.264 in the byte stream format of annex B: Constrained Baseline, Main and High profile,
  /// progressive and without B-frames.
  case h264
  /// VP8 (RFC 6386).
  case vp8
  /// VP9, profile 0.
  case vp9
  /// AV1, Main profile with 8 bits and 4:2:0, in the low-overhead format of its section 5. Only
  /// decoded.
  case av1

  /// The name for people.
  public var name: String {
    switch self {
    case .h264: "H.264"
    case .vp8: "VP8"
    case .vp9: "VP9"
    case .av1: "AV1"
    }
  }

  /// Whether this build decodes the codec.
  public var canDecode: Bool { self.library != nil }

  /// Whether this build encodes the codec.
  public var canEncode: Bool { self != .av1 && self.library != nil }

  /// The name and version of the library, such as `OpenH264 2.3.1`. `nil` if this build lacks it.
  public var library: String? {
    #if Codecs
      switch self {
      case .h264:
        var (major, minor, revision): (Int32, Int32, Int32) = (0, 0, 0)
        unsafe copenh264_version(&major, &minor, &revision)
        return "OpenH264 \(major).\(minor).\(revision)"
      case .vp8, .vp9: return unsafe "libvpx \(String(cString: cvpx_version()).drop { $0 == "v" })"
      case .av1: return unsafe "dav1d \(String(cString: cdav1d_version()))"
      }
    #else
      return nil
    #endif
  }

  /// The error of a build without the library.
  var missingLibrary: CodecError {
    CodecError(
      .unsupported,
      "this build lacks \(self.name): build Sidelight with the trait Codecs, which dev/build "
        + "selects where dev/setup installed the libraries")
  }
}

// Estimates of the memory of libraries, for quotas: upper bounds of the resident memory that was
// measured at 640x360 and 1280x720, and of the references that a stream may have.

extension VideoDecoder {
  /// An estimate of a decoder's memory in bytes.
  package static func memoryByteCount(_ codec: VideoCodec, of size: FrameSize) -> Int {
    let bytesPerPixel =
      switch codec {
      case .h264: 32
      case .vp8: 8
      case .vp9: 20
      case .av1: 24
      }
    return 1_000_000 + bytesPerPixel * size.pixelCount
  }
}

extension VideoEncoderSettings {
  /// An estimate of an encoder's memory in bytes.
  package var memoryByteCount: Int {
    let bytesPerPixel =
      switch self.codec {
      case .h264: 16
      case .vp8: 36
      case .vp9, .av1: 90
      }
    return 1_000_000 + bytesPerPixel * self.size.pixelCount
  }
}
