/// How frames travel: the same for server and client. The defaults are for video; gRPC's own are for
/// messages of a few kilobytes, and carry a twelfth of the frames.
public struct TransportConfiguration: Sendable, Hashable {
  /// - `maxMessageBytes` (bytes, default: 64 MiB): the largest message in either direction. A 4K
  ///   BGRA frame has 33 MB.
  public var maxMessageBytes = 64 << 20
  /// - `streamWindowBytes` (bytes, default: 4 MiB, range: 64 KiB to 2 GiB - 1): HTTP/2's flow-control
  ///   window of one stream. Below 1 MiB large frames wait for window updates; above 4 MiB nothing is
  ///   gained, and stale bytes pile up.
  public var streamWindowBytes = 4 << 20
  /// - `http2FrameBytes` (bytes, default: 256 KiB, range: 16 KiB-16 MiB): the largest HTTP/2 frame.
  public var http2FrameBytes = 256 << 10
  /// - `maxConcurrentStreams` (count, default: 128): streams that one connection may have at a time.
  ///   Always stated to the peer: left out, the stack below enforces a limit that it never announced.
  public var maxConcurrentStreams = 128
  /// - `receiveBufferBytes` (bytes, default: 256 KiB): what is read from a socket at a time.
  public var receiveBufferBytes = 256 << 10

  /// The defaults.
  public init() {}
}
