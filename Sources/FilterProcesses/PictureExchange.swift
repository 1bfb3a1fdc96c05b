import SidelightKernels
import SidelightScene
import SidelightWire
import SwiftProtobuf

/// Converts pictures into the memory of a process, in the format of a filter.
struct ProcessInput: Sendable {
  private let format: PixelFormat
  private var plan: Plan?

  /// Pictures are small, or beside the frame's path: one thread is enough.
  private static let executor = PlanExecutor(
    pool: BufferPool(), compute: ComputePool(threadCount: 1))

  init(_ format: PixelFormat) {
    self.format = format
  }

  /// Returns a picture in the memory.
  ///
  /// - Throws: ``FilterProcessError`` if the memory is in use.
  mutating func write(
    _ frame: Frame, to memory: FilterMemory
  ) async throws -> (block: FilterMemory.Block, layout: FrameLayout) {
    let plan: Plan
    if let known = self.plan, known.input == frame.geometry {
      plan = known
    } else {
      plan = ResolvedPipeline.empty.plan(
        for: frame.geometry, as: FrameEncoding(format: self.format, color: frame.color))
      self.plan = plan
    }
    let layout = try FrameLayout(aligned: self.format, size: frame.size)
    let block = try memory.allocate(layout.byteCount)
    try await Self.executor.run(
      plan, on: frame, into: MutableFrame(layout: layout, color: frame.color, buffer: block.buffer))
    return (block, layout)
  }
}

/// The use of a matte or a face finder by one session: it sends reduced pictures, and waits for the
/// answers.
struct PictureExchange: Sendable {
  let filter: RemoteFilter
  /// Opened with the first picture if the filter has state: a copy from before then starts anew.
  private var session: RemoteSession?
  private var input: ProcessInput

  init(_ filter: RemoteFilter) {
    self.filter = filter
    self.session = filter.offer.isStateful ? nil : RemoteSession(of: filter)
    self.input = ProcessInput(filter.offer.format)
  }

  /// Sends a picture.
  ///
  /// The answer has half of the time that is left for the frame; the other half is for the passes.
  ///
  /// - Parameters:
  ///   - picture: The picture, upright.
  ///   - faces: The known faces, in its pixels.
  ///   - output: The size of the result's samples; `nil` if it has no samples.
  /// - Returns: The answer, and the samples of the result.
  /// - Throws: ``FilterProcessError``, or `CancellationError`.
  mutating func send(
    _ picture: ColorPicture, faces: [DetectedFace] = [], output: FrameSize? = nil
  ) async throws -> (result: Sidelight_V1_ProcessMessage.Result, samples: Frame?) {
    let session = self.session ?? RemoteSession(of: self.filter)
    self.session = session
    let process = session.process
    let connection = try process.connectionForFrame()
    let frame = Frame(picture)
    let (block, layout) = try await self.input.write(frame, to: connection.memory)
    var blocks = [block]
    var message = Sidelight_V1_HostMessage.Frame()
    message.input = .init(layout, in: block)
    var samples: Frame?
    if let output {
      let layout = try FrameLayout(aligned: .gray8, size: output)
      let block = try connection.memory.allocate(layout.byteCount)
      // Samples that the process does not write must not show another picture.
      if !self.filter.offer.fillsOutput { block.buffer.clear() }
      message.output = .init(layout, in: block)
      blocks.append(block)
      samples = Frame(layout: layout, buffer: block.buffer)
    }
    let work = SceneWork.current
    message.describe(work?.time ?? FrameTime(), frame.geometry)
    message.sequence = work?.details.sequence ?? 0
    message.captureTimeNs = work?.details.captureNanoseconds ?? 0
    message.faces = faces.map(Sidelight_V1_Detection.init)
    let now = process.clock.now()
    let deadline = work?.deadline.map { now + max(.zero, $0 - now) / 2 }
    let name = self.filter.offer.name
    func exchange() async throws -> Sidelight_V1_ProcessMessage.Result {
      do {
        return try await session.filter(
          message, blocks, on: connection, self.filter.arguments,
          label: work?.details.label ?? "", until: deadline)
      } catch is PassDeadlineError {
        throw FilterProcessError("\(name) has not answered in time")
      }
    }
    let meter = work?.meter
    let result =
      if let meter { try await meter.wait { try await exchange() } } else { try await exchange() }
    if let record = PassFigures.record {
      record("process_us", Int(clamping: result.processUs))
      record("exchange_us", Int((process.clock.now() - now) / .microseconds(1)))
    }
    return (result, samples)
  }
}

/// Mattes of a process.
struct RemoteMatteSource: MatteSource {
  private var exchange: PictureExchange
  private let size: FilterOffer.PictureSize

  init(_ filter: RemoteFilter, _ size: FilterOffer.PictureSize) {
    self.exchange = PictureExchange(filter)
    self.size = size
  }

  mutating func matte(
    of picture: ColorPicture, faces: [DetectedFace]
  ) async throws -> MatteEstimate {
    let size = self.size.size(for: FrameSize(width: picture.width, height: picture.height))
    let samples = try await self.exchange.send(picture, faces: faces, output: size).samples
    var values: [Float] = []
    values.reserveCapacity(size.pixelCount)
    for y in 0 ..< size.height {
      samples?.withRow(y) { row in
        for x in 0 ..< size.width {
          values.append(Float(row.unsafeLoad(fromByteOffset: x, as: UInt8.self)) * (1 / 255))
        }
      }
    }
    return MatteEstimate(
      width: size.width, height: size.height, values: values, faces: faces, of: picture)
  }
}

/// A face finder of a process. It searches whole pictures, once for all searches of a picture.
struct RemoteFaceFinder: FaceFinder {
  /// The maximum error of the angle of faces without landmarks: about the range in which detectors of
  /// upright faces work.
  private static let rollTolerance = 0.35
  private static let maxFaces = 64

  private var exchange: PictureExchange
  /// The result of the last picture. The looks at a picture wait only once for a failure.
  private var last: (picture: LumaPicture, result: Result<[DetectedFace], any Error>)?

  init(_ filter: RemoteFilter) {
    self.exchange = PictureExchange(filter)
  }

  var needsColor: Bool { self.exchange.filter.offer.format != .gray8 }

  mutating func faces(in picture: LumaPicture) async throws -> [DetectedFace] {
    try await self.faces(in: picture, color: nil)
  }

  mutating func faces(
    in picture: LumaPicture, color: ColorPicture?, search: FaceSearch
  ) async throws -> [DetectedFace] {
    try await self.faces(in: picture, color: color).filter(search.includes)
  }

  private mutating func faces(
    in picture: LumaPicture, color: ColorPicture?
  ) async throws -> [DetectedFace] {
    if let last, last.picture == picture { return try last.result.get() }
    do {
      let faces = try await self.search(picture, color)
      self.last = (picture, .success(faces))
      return faces
    } catch {
      self.last = (picture, .failure(error))
      throw error
    }
  }

  private mutating func search(
    _ picture: LumaPicture, _ color: ColorPicture?
  ) async throws -> [DetectedFace] {
    let found = try await self.exchange.send(color ?? ColorPicture(picture)).result.faces
    guard found.count <= Self.maxFaces else {
      throw FilterProcessError(
        "\(self.exchange.filter.offer.name) found \(found.count) faces; the limit is "
          + "\(Self.maxFaces)")
    }
    return try found.map(self.face)
  }

  /// - Throws: ``FilterProcessError`` if it is not a face.
  private func face(
    _ wire: Sidelight_V1_ProcessMessage.Face
  ) throws(FilterProcessError) -> DetectedFace {
    var face: DetectedFace?
    if wire.hasLandmarks {
      let points = wire.landmarks
      face = CanonicalFace.face(
        FaceLandmarks(
          leftEye: PicturePoint(x: points.leftEyeX, y: points.leftEyeY),
          rightEye: PicturePoint(x: points.rightEyeX, y: points.rightEyeY),
          mouth: PicturePoint(x: points.mouthX, y: points.mouthY)), confidence: wire.confidence)
    } else if wire.width > 0, wire.height > 0 {
      face = CanonicalFace.face(
        center: PicturePoint(x: wire.x + wire.width / 2, y: wire.y + wire.height / 2),
        width: wire.width, height: wire.height, roll: 0, rollTolerance: Self.rollTolerance,
        confidence: wire.confidence)
    }
    guard let face, face.center.x.isFinite, face.center.y.isFinite, face.size.isFinite,
      (0 ... 1).contains(face.confidence)
    else {
      throw FilterProcessError(
        "\(self.exchange.filter.offer.name) found a face that is not a box of finite numbers, or "
          + "its confidence is not 0 to 1")
    }
    return face
  }
}

extension Frame {
  fileprivate init(_ picture: ColorPicture) {
    let size = FrameSize(width: picture.width, height: picture.height)
    // A reduced picture has a valid size.
    guard let layout = try? FrameLayout(aligned: .rgb24, size: size) else {
      preconditionFailure("the picture is \(size)")
    }
    var frame = BufferPool(maxIdleBytes: 0).makeFrame(
      layout: layout, color: ColorDescription())
    for y in 0 ..< picture.height {
      frame.withMutableRow(y) { row in
        picture.samples.withUnsafeBytes { samples in
          let start = 3 * y * picture.width
          row.withUnsafeMutableBytes { bytes in
            bytes.copyMemory(
              from: UnsafeRawBufferPointer(rebasing: samples[start ..< start + bytes.count]))
          }
        }
      }
    }
    self = frame.finish()
  }
}

extension ColorPicture {
  /// The picture in grey colours.
  fileprivate init(_ picture: LumaPicture) {
    self.init(
      width: picture.width, height: picture.height,
      samples: picture.samples.flatMap { [$0, $0, $0] })
  }
}

extension Sidelight_V1_Detection {
  fileprivate init(_ face: DetectedFace) {
    self = .with {
      $0.kind = "face"
      $0.confidence = face.confidence
      $0.x = face.center.x - face.size / 2
      $0.y = face.center.y - face.size / 2
      $0.width = face.size
      $0.height = face.size
    }
  }
}
