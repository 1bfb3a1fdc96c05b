public import SidelightKernels
public import SidelightWire
import SwiftProtobuf

/// The options of a session.
public struct SessionOptions: Sendable, Hashable {
  /// The frame to drop when frames arrive faster than they are filtered.
  public typealias DropPolicy = SidelightWire.DropPolicy

  /// - `pipeline` (default: empty, every frame passes through): the first pipeline.
  public var pipeline: Pipeline
  /// - `dropPolicy` (default: `DropPolicy.newestWins`): the frame to drop when frames
  ///   arrive too fast.
  public var dropPolicy: DropPolicy
  /// - `label` (default: empty): a name of the track for operators; at most 128 bytes.
  public var label: String
  /// - `participant` (default: empty): the participant whose video the session filters, for whom
  ///   this caller vouches: a name of at most 128 bytes, unique among the caller's participants.
  ///   Quotas, assets, permissions, overrides, logs and traces then apply to the participant.
  public var participant: String
  /// - `group` (default: empty): the call or room whose sessions belong to one server, at most 128
  ///   bytes of ASCII; proxies read it from the call's metadata (`sidelight-group`).
  public var group: String
  /// - `allowedFilters` (optional, default: all): the only filters that the session may use, in
  ///   addition to the server's permissions: at most 256 names, or prefixes that end in `*`. An
  ///   empty list permits no filters.
  public var allowedFilters: [String]?
  /// - `mailboxDepth` (count, optional, range: 1-64, default: 1): frames that may wait at the
  ///   server to be filtered, and results that may wait to be sent.
  public var mailboxDepth: Int?
  /// - `budget` (duration, optional, default: no limit): the time from a frame's receipt at the
  ///   server after which it is dropped as late, in whole microseconds. A frame may set its own.
  ///   Has no effect under `DropPolicy.neverDrop`.
  public var budget: Duration?
  /// - `maxFPS` (frames a second, optional, range: 0.01-1000, default: no limit): the rate
  ///   above which the server drops frames evenly. Refused under `DropPolicy.neverDrop`.
  public var maxFPS: Double?
  /// - `outputWindow` (count, optional, range: 1-64, default: `nil`): pictures that may be on their
  ///   way back; beyond it the newest, as many as ``mailboxDepth``, wait at the server. Taking the
  ///   outcome acknowledges its picture. `nil` leaves the limit to the transport's flow control.
  public var outputWindow: Int?
  /// - `framesInFlight` (count, optional, range: 1-64): the frames on their way to ask the server
  ///   for; on a long link the frame rate times the round trip and 100 ms. The server may grant
  ///   fewer. `nil` asks for 16 if ``output`` is encoded, else leaves it to the server. Has no
  ///   effect under `DropPolicy.neverDrop`.
  public var framesInFlight: Int?
  /// - `failurePolicy` (default: pass through): the handling of frames whose stage failed.
  public var failurePolicy: FailurePolicy
  /// - `allowDegraded` (default: false): whether the server may use cheaper variants of the
  ///   pipeline before it drops frames; see `FrameDisposition.degraded`.
  public var allowDegraded: Bool
  /// - `analysisOnly` (default: false): whether only analyses are requested. Frames then pass
  ///   through, and no pixels come back.
  public var analysisOnly: Bool
  /// - `output` (default: as the input): the format and size of the pictures that come back.
  public var output: OutputOptions
  /// - `outputs` (default: none): named outputs, at most 4. The pictures then come back in them, as
  ///   ``SessionEvent/output(_:_:)``; ``FilterSession/outcomes`` report every frame without its
  ///   picture (``VideoPicture/omitted``). `output` and `analysisOnly` must not be set beside them,
  ///   and pixels travel inline.
  public var outputs: [NamedOutput]
  /// - `composition` (optional, default: `nil`): the results of other sessions that the session
  ///   filters in place of frames of its own. ``FilterSession/send(_:)`` then refuses frames, and the
  ///   outcomes are numbered by the server, from 1 on every connection. `outputWindow` is 4 by
  ///   default; `allowUnmodified` and `sharedMemory` have no effect, and
  ///   `DropPolicy.neverDrop` is refused.
  public var composition: CompositionOptions?
  /// - `allowUnmodified` (default: true): whether an unchanged frame may come back without its
  ///   pixels; its outcome then contains the picture that was sent.
  public var allowUnmodified: Bool
  /// - `statsInterval` (duration, optional, range: 100 ms-1 h, default: only at the end): the
  ///   interval at which the server reports its counts.
  public var statsInterval: Duration?
  /// - `sharedMemory` (optional, default: slots of 8 MiB): the shared memory for pixels if the
  ///   server is on the same host and offers it. `nil` disables it: pixels always travel inline.
  public var sharedMemory: SharedMemoryOptions?
  /// - `reconnect` (optional, default: `nil`): the policy for a lost connection. `nil` disables
  ///   reconnection: the session ends.
  public var reconnect: ReconnectPolicy?

  /// Creates options; the defaults are for live video. The server refuses a value that is out of
  /// range.
  public init(
    pipeline: Pipeline = [], dropPolicy: DropPolicy = .newestWins, label: String = "",
    participant: String = "", group: String = "", allowedFilters: [String]? = nil,
    mailboxDepth: Int? = nil, budget: Duration? = nil, maxFPS: Double? = nil,
    outputWindow: Int? = nil, framesInFlight: Int? = nil,
    failurePolicy: FailurePolicy = .passThrough,
    allowDegraded: Bool = false, analysisOnly: Bool = false, allowUnmodified: Bool = true,
    output: OutputOptions = OutputOptions(), outputs: [NamedOutput] = [],
    composition: CompositionOptions? = nil, statsInterval: Duration? = nil,
    sharedMemory: SharedMemoryOptions? = SharedMemoryOptions(),
    reconnect: ReconnectPolicy? = nil
  ) {
    self.pipeline = pipeline
    self.dropPolicy = dropPolicy
    self.label = label
    self.participant = participant
    self.group = group
    self.allowedFilters = allowedFilters
    self.mailboxDepth = mailboxDepth
    self.budget = budget
    self.maxFPS = maxFPS
    self.outputWindow = outputWindow
    self.framesInFlight = framesInFlight
    self.failurePolicy = failurePolicy
    self.allowDegraded = allowDegraded
    self.analysisOnly = analysisOnly
    self.output = output
    self.outputs = outputs
    self.composition = composition
    self.allowUnmodified = allowUnmodified
    self.statsInterval = statsInterval
    self.sharedMemory = sharedMemory
    self.reconnect = reconnect
  }
}

extension SessionOptions {
  /// The pictures that may be on their way back. The server makes the frames of a composition, so
  /// credits do not bound the pictures that wait to be taken.
  var window: Int? { self.outputWindow ?? (self.composition == nil ? nil : 4) }

  /// Whether the session opens elsewhere when the server asks for it. The sources of a composition
  /// are at its server.
  var acceptsMove: Bool { self.reconnect != nil && self.composition == nil }
}

/// A named output of a session: the session's result, filtered and converted once more. The pipeline
/// of the session filters a frame once for all outputs; see `Output` of the contract.
public struct NamedOutput: Sendable, Hashable {
  /// - `name`: a name of printable characters, unique in the session; at most 64 bytes.
  public var name: String
  /// - `output` (default: as the input): the format and size of the pictures.
  public var output: OutputOptions
  /// - `pipeline` (default: empty): the pipeline of this output, applied to the session's result.
  ///   Analyses, custom filters, and filters that follow the scene belong into the session's
  ///   pipeline.
  public var pipeline: Pipeline
  /// - `maxFPS` (frames a second, optional, range: 0.01-1000, default: no limit): the rate by capture
  ///   times, beyond which frames are left out of this output evenly.
  public var maxFPS: Double?

  /// Creates an output. The server refuses a value that is out of range.
  public init(
    _ name: String, output: OutputOptions = OutputOptions(), pipeline: Pipeline = [],
    maxFPS: Double? = nil
  ) {
    self.name = name
    self.output = output
    self.pipeline = pipeline
    self.maxFPS = maxFPS
  }
}

/// The format and size of the pictures that come back; see `OutputSpec` of the contract. They apply
/// to filtered pictures: pictures that pass through come back as they were sent.
public struct OutputOptions: Sendable, Hashable {
  /// The format in which pictures travel back.
  public enum Format: Sendable, Hashable {
    /// As samples.
    case raw(PixelFormat)
    /// As JPEG files.
    case jpeg
    /// As encoded video.
    case encoded(EncodedFormat)
  }

  /// - `format` (default: as the picture was sent): the format of the result.
  public var format: Format?
  /// - `width` (pixels, optional, range: 1-16384): the width. `nil` uses the picture's own, or
  ///   follows from the height.
  public var width: Int?
  /// - `height` (pixels, optional, range: 1-16384): the height. `nil` uses the picture's own, or
  ///   follows from the width.
  public var height: Int?
  /// - `fit` (default: fit, between bars): the treatment of pictures whose shape differs.
  public var fit: PictureFit
  /// - `isUpright` (default: false): whether rotation and mirroring are applied to the pixels.
  public var isUpright: Bool
  /// - `jpegQuality` (percent, optional, range: 1-100, default: 80): the quality of JPEG files.
  public var jpegQuality: Int?
  /// - `encoder` (optional): the settings of the encoder of video. With settings, unchanged frames
  ///   are encoded again too.
  public var encoder: EncoderOptions?

  /// Whether the results are encoded video.
  var isEncoded: Bool {
    guard case .encoded? = self.format else { return false }
    return true
  }

  /// Creates options; the defaults keep the format and size of the input.
  public init(
    format: Format? = nil, width: Int? = nil, height: Int? = nil, fit: PictureFit = .fit,
    isUpright: Bool = false, jpegQuality: Int? = nil, encoder: EncoderOptions? = nil
  ) {
    self.format = format
    self.width = width
    self.height = height
    self.fit = fit
    self.isUpright = isUpright
    self.jpegQuality = jpegQuality
    self.encoder = encoder
  }
}

/// The settings of a video encoder; see `EncoderSpec` of the contract.
public struct EncoderOptions: Sendable, Hashable {
  /// The relation of processor time to quality.
  public enum Effort: Sendable, Hashable {
    /// The least processor time.
    case fast
    /// More processor time for better quality.
    case balanced
    /// The most processor time that suits live video.
    case best
  }

  /// - `bitRate` (bits a second, optional, range: 20000-100000000, default: by size and frame rate).
  public var bitRate: Int?
  /// - `frameRate` (frames a second, optional, range: 1-240, default: `SessionOptions.maxFPS`, or
  ///   30): the frame rate that the bit rate is for.
  public var frameRate: Double?
  /// - `keyFrameInterval` (frames, optional, default: only where one is needed): the maximum number
  ///   of frames from a key frame to the next.
  public var keyFrameInterval: Int?
  /// - `temporalLayers` (range: 1-3, default: 1): the layers, of which the upper ones can be dropped
  ///   on the way to a receiver.
  public var temporalLayers: Int
  /// - `effort` (default: fast): the relation of processor time to quality.
  public var effort: Effort

  /// Creates settings.
  public init(
    bitRate: Int? = nil, frameRate: Double? = nil, keyFrameInterval: Int? = nil,
    temporalLayers: Int = 1, effort: Effort = .fast
  ) {
    self.bitRate = bitRate
    self.frameRate = frameRate
    self.keyFrameInterval = keyFrameInterval
    self.temporalLayers = temporalLayers
    self.effort = effort
  }
}

extension Sidelight_V1_Open {
  /// Creates the message from options, without pipeline and resume token.
  init(_ options: SessionOptions) {
    self.init()
    self.label = options.label
    self.participant = options.participant
    if let allowed = options.allowedFilters {
      // On the wire an empty list permits all filters; this name doesn't match any filter.
      self.allowedFilters = allowed.isEmpty ? ["-"] : allowed
    }
    self.allowUnmodified = options.allowUnmodified && options.composition == nil
    self.mailboxDepth = UInt32(clamping: options.mailboxDepth ?? 0)
    self.budgetUs = options.budget?.wireMicroseconds ?? 0
    self.maxFps = options.maxFPS ?? 0
    self.outputWindow = UInt32(clamping: options.window ?? 0)
    self.framesInFlight = UInt32(
      clamping: options.framesInFlight ?? (options.output.isEncoded ? 16 : 0))
    self.failurePolicy = Sidelight_V1_FailurePolicy(options.failurePolicy)
    self.allowDegraded = options.allowDegraded
    self.analysisOnly = options.analysisOnly
    if options.output != OutputOptions() { self.output = Sidelight_V1_OutputSpec(options.output) }
    self.outputs = options.outputs.map { output in
      .with {
        $0.name = output.name
        if output.output != OutputOptions() { $0.output = Sidelight_V1_OutputSpec(output.output) }
        if !output.pipeline.stages.isEmpty { $0.pipeline = Sidelight_V1_Pipeline(output.pipeline) }
        $0.maxFps = output.maxFPS ?? 0
      }
    }
    if let interval = options.statsInterval {
      self.statsInterval = Google_Protobuf_Duration(rounding: interval)
    }
    self.dropPolicy = Sidelight_V1_DropPolicy(options.dropPolicy)
    self.acceptsMove = options.acceptsMove
  }
}

extension Sidelight_V1_OutputSpec {
  init(_ options: OutputOptions) {
    self.init()
    switch options.format {
    case .raw(let format)?: self.format = Sidelight_V1_PixelFormat(format)
    case .jpeg?: self.format = .jpeg
    case .encoded(let format)?: self.format = Sidelight_V1_PixelFormat(format)
    case nil: break
    }
    if let encoder = options.encoder { self.encoder = Sidelight_V1_EncoderSpec(encoder) }
    self.width = UInt32(clamping: options.width ?? 0)
    self.height = UInt32(clamping: options.height ?? 0)
    self.fit = Sidelight_V1_FitMode(options.fit)
    self.upright = options.isUpright
    self.jpegQuality = UInt32(clamping: options.jpegQuality ?? 0)
  }
}

extension Sidelight_V1_FitMode {
  init(_ fit: PictureFit) {
    self =
      switch fit {
      case .fit: .aspectFit
      case .fill: .aspectFill
      case .stretch: .stretch
      }
  }
}

extension Sidelight_V1_EncoderSpec {
  fileprivate init(_ options: EncoderOptions) {
    self.init()
    self.bitRate = UInt32(clamping: options.bitRate ?? 0)
    self.frameRate = options.frameRate ?? 0
    self.keyFrameInterval = UInt32(clamping: options.keyFrameInterval ?? 0)
    self.temporalLayers = UInt32(clamping: options.temporalLayers)
    self.effort =
      switch options.effort {
      case .fast: .fast
      case .balanced: .balanced
      case .best: .best
      }
  }
}
