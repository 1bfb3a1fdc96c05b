import SidelightKernels
import SidelightScene
import SidelightWire
import SwiftProtobuf

/// A session of a filter process in Swift.
protocol ServedSession {
  /// Answers a frame, in the memory of the host.
  ///
  /// - Returns: The answer without the frame's number and the time.
  mutating func answer(
    _ frame: Sidelight_V1_HostMessage.Frame, in memory: PixelBuffer
  ) async throws -> Sidelight_V1_ProcessMessage.Result
}

/// The executors of short and of long work.
struct ServedExecutors {
  /// Runs on the thread that reads the messages: waking another one takes longer than the work.
  /// Frames are filtered in turn, so only they wait for that thread.
  let inline: PlanExecutor
  /// Divides the work among the processors.
  let parallel: PlanExecutor

  /// The time of a frame below which its session's next one counts as short work.
  static let limit = Duration.microseconds(300)

  init(_ compute: ComputePool) {
    let pool = BufferPool()
    self.inline = PlanExecutor(pool: pool, compute: nil, fixedBands: nil)
    self.parallel = PlanExecutor(pool: pool, compute: compute)
  }
}

/// A session of a filter of the catalogue.
struct ServedFilter: ServedSession {
  private let name: String
  private let format: PixelFormat
  private let catalogue: FilterCatalogue
  private let executors: ServedExecutors
  private var pipeline: ResolvedPipeline
  /// The pipeline's plan for the last geometry, and the time of the last frame.
  private var last: (plan: Plan, elapsed: Duration)?

  /// - Throws: An error of the parameters.
  init(
    _ open: Sidelight_V1_HostMessage.OpenSession, _ format: PixelFormat,
    in catalogue: FilterCatalogue, _ executors: ServedExecutors
  ) throws {
    self.name = open.filter
    self.format = format
    self.catalogue = catalogue
    self.executors = executors
    self.pipeline = try catalogue.resolve(
      [.filter(open.filter, open.parameters.mapValues { try ParameterValue($0) })])
  }

  mutating func answer(
    _ message: Sidelight_V1_HostMessage.Frame, in memory: PixelBuffer
  ) async throws -> Sidelight_V1_ProcessMessage.Result {
    if message.hasParameters {
      let parameters = try message.parameters.values.mapValues { try ParameterValue($0) }
      self.pipeline = try self.catalogue.resolve([.filter(self.name, parameters)])
      self.last = nil
    }
    let input = try memory.picture(message.input, self.format)
    let output = message.hasOutput ? try memory.picture(message.output, self.format) : input
    let frame = Frame(
      layout: input.layout, color: ColorDescription(message.color),
      orientation: try Orientation(message.orientation), buffer: input.buffer)
    let last = self.last.flatMap { $0.plan.input == frame.geometry ? $0 : nil }
    let plan = last?.plan ?? self.pipeline.plan(for: frame.geometry)
    guard plan.output == frame.geometry else {
      throw FilterProcessError("filters that change the size cannot be served")
    }
    let isShort = last.map { $0.elapsed < ServedExecutors.limit } ?? false
    let start = ContinuousClock.now
    try await (isShort ? self.executors.inline : self.executors.parallel).run(
      plan, on: frame,
      into: MutableFrame(layout: output.layout, color: frame.color, buffer: output.buffer),
      at: FrameTime(index: message.index, arrival: .nanoseconds(message.arrivalTimeNs)))
    self.last = (plan, ContinuousClock.now - start)
    return Sidelight_V1_ProcessMessage.Result()
  }
}

/// A session of a matte.
struct ServedMatte: ServedSession {
  static let format = PixelFormat.rgb24

  var source: any MatteSource

  mutating func answer(
    _ frame: Sidelight_V1_HostMessage.Frame, in memory: PixelBuffer
  ) async throws -> Sidelight_V1_ProcessMessage.Result {
    let input = try memory.samples(of: frame.input, Self.format)
    let picture = ColorPicture(width: input.width, height: input.height, samples: input.samples)
    let faces = frame.faces.map { face in
      DetectedFace(
        center: PicturePoint(x: face.x + face.width / 2, y: face.y + face.height / 2),
        size: face.width, confidence: face.confidence)
    }
    let matte = try await self.source.matte(of: picture, faces: faces)
    // The contract has mattes that are sure, and failures, after which filters that protect cover
    // the frame too.
    guard matte.isSure else { throw FilterProcessError("the matte is not sure") }
    let (layout, buffer) = try memory.picture(frame.output, .gray8)
    var output = MutableFrame(layout: layout, color: ColorDescription(), buffer: buffer)
    for y in 0 ..< layout.size.height {
      let row = y * matte.height / layout.size.height * matte.width
      output.withMutableRow(y) { samples in
        for x in 0 ..< layout.size.width {
          let value = matte.values[row + x * matte.width / layout.size.width]
          let sample = value > 0 ? UInt8(min(value, 1) * 255 + 0.5) : 0
          samples.storeBytes(of: sample, toByteOffset: x, as: UInt8.self)
        }
      }
    }
    return Sidelight_V1_ProcessMessage.Result()
  }
}

/// A session of a face finder.
struct ServedFaceFinder: ServedSession {
  private var finder: any FaceFinder

  init(_ finder: any FaceFinder) {
    self.finder = finder
  }

  static func format(of finder: any FaceFinder) -> PixelFormat {
    finder.needsColor ? .rgb24 : .gray8
  }

  mutating func answer(
    _ frame: Sidelight_V1_HostMessage.Frame, in memory: PixelBuffer
  ) async throws -> Sidelight_V1_ProcessMessage.Result {
    let input = try memory.samples(of: frame.input, Self.format(of: self.finder))
    var color: ColorPicture?
    let luma: LumaPicture
    if self.finder.needsColor {
      let picture = ColorPicture(width: input.width, height: input.height, samples: input.samples)
      color = picture
      luma = LumaPicture(picture)
    } else {
      luma = LumaPicture(width: input.width, height: input.height, samples: input.samples)
    }
    let faces = try await self.finder.faces(in: luma, color: color, search: FaceSearch())
    return .with { $0.faces = faces.map(Sidelight_V1_ProcessMessage.Face.init) }
  }
}

extension Sidelight_V1_ProcessMessage.Face {
  /// The host treats boxes as upright faces; landmarks state the angle.
  fileprivate init(_ face: DetectedFace) {
    self.init()
    self.confidence = face.confidence
    let implied = face.roll == 0 ? nil : CanonicalFace.landmarks(of: face)
    guard let landmarks = face.landmarks ?? implied else {
      (self.width, self.height) = CanonicalFace.boxSize(of: face)
      self.x = face.center.x - self.width / 2
      self.y = face.center.y - self.height / 2
      return
    }
    self.landmarks = .with {
      ($0.leftEyeX, $0.leftEyeY) = (landmarks.leftEye.x, landmarks.leftEye.y)
      ($0.rightEyeX, $0.rightEyeY) = (landmarks.rightEye.x, landmarks.rightEye.y)
      ($0.mouthX, $0.mouthY) = (landmarks.mouth.x, landmarks.mouth.y)
    }
  }
}

extension PixelBuffer {
  /// Returns the layout and the bytes of a picture in the memory, without the bytes around it.
  ///
  /// - Throws: An error if it is not in the memory.
  fileprivate func picture(
    _ picture: Sidelight_V1_HostMessage.Picture, _ format: PixelFormat
  ) throws -> (layout: FrameLayout, buffer: PixelBuffer) {
    let start = min(Int(picture.planes.map(\.offset).min() ?? 0), self.byteCount)
    let layout = try FrameLayout(
      format: format, size: FrameSize(width: Int(picture.width), height: Int(picture.height)),
      planes: picture.planes.map {
        PlaneLayout(offset: Int($0.offset) - start, stride: Int($0.stride))
      }, available: self.byteCount - start)
    let bytes = UnsafeMutableRawBufferPointer(
      rebasing: self.bytes[start ..< start + layout.byteCount])
    return (layout, PixelBuffer(bytes, of: self))
  }

  /// Returns the samples of a picture of one plane, without padding.
  ///
  /// - Throws: An error if it is not in the memory.
  fileprivate func samples(
    of picture: Sidelight_V1_HostMessage.Picture, _ format: PixelFormat
  ) throws -> (width: Int, height: Int, samples: [UInt8]) {
    let (layout, buffer) = try self.picture(picture, format)
    let frame = Frame(layout: layout, buffer: buffer)
    var samples: [UInt8] = []
    samples.reserveCapacity(layout.byteCount)
    for y in 0 ..< layout.size.height {
      frame.withRow(y) { row in row.withUnsafeBytes { samples.append(contentsOf: $0) } }
    }
    return (layout.size.width, layout.size.height, samples)
  }
}
