import CFilterProcess
import Foundation
import GRPCCore
public import SidelightKernels
import SidelightTransport
import SidelightWire
import SwiftProtobuf

/// A filter process in Swift: it serves filters of a catalogue to the server that has started it.
///
/// ```swift
/// var catalogue = FilterCatalogue.builtIn
/// catalogue.register(CustomFilter("emboss", "Shows slopes.", neighborhood: Emboss()))
/// try await FilterProcessServer(catalogue, filters: ["emboss"]).run()
/// ```
public struct FilterProcessServer: Sendable {
  private struct Session {
    var filter: String
    var parameters: [String: ParameterValue]
    /// The pipeline of the parameters, and its plan for the last geometry.
    var pipeline: ResolvedPipeline
    var plan: Plan?
  }

  private let catalogue: FilterCatalogue
  private let filters: [String]
  private let format: SidelightKernels.PixelFormat

  /// Creates a filter process.
  ///
  /// - Parameters:
  ///   - catalogue: The filters.
  ///   - filters: The names of the filters to serve. They return pictures of the input's size.
  ///   - format: The format of pictures: any except `rgba8`.
  public init(
    _ catalogue: FilterCatalogue, filters: [String],
    format: SidelightKernels.PixelFormat = .bgra8
  ) {
    self.catalogue = catalogue
    self.filters = filters
    self.format = format
  }

  /// Whether a host has started this program.
  public var hasHost: Bool {
    ProcessInfo.processInfo.environment["SIDELIGHT_FILTER_SOCKET"] != nil
  }

  /// Serves until the host ends.
  ///
  /// - Throws: ``FilterProcessError`` if the program was not started by a host, or a name is unknown;
  ///   an error of gRPC if the host refuses the filters.
  public func run() async throws {
    let environment = ProcessInfo.processInfo.environment
    guard let socket = environment["SIDELIGHT_FILTER_SOCKET"],
      let token = environment["SIDELIGHT_FILTER_TOKEN"],
      let descriptor = environment["SIDELIGHT_FILTER_MEMORY"].flatMap({ CInt($0) })
    else {
      throw FilterProcessError(
        "this is a filter process; start it with: sidelight serve --filter-process COMMAND")
    }
    let size = Int(lseek(descriptor, 0, SEEK_END))
    guard size > 0, let base = cfp_map(descriptor, size) else {
      throw FilterProcessError("the memory of the host cannot be mapped")
    }
    let memory = PixelBuffer(borrowing: UnsafeMutableRawBufferPointer(start: base, count: size)) {
      _ in
    }
    let (outbound, answers) = AsyncStream<Sidelight_V1_ProcessMessage>.makeStream()
    var hello = Sidelight_V1_ProcessMessage()
    hello.hello = try self.hello(token)
    answers.yield(hello)
    try await Dialer.withDialer(
      TransportConfiguration(), tls: nil, interceptors: [], isConnectionError: { _ in false }
    ) { dialer in
      try await dialer.withConnection(to: .unix(path: socket)) { connection in
        let client = Sidelight_V1_FilterHost.Client(wrapping: connection)
        try await client.attach { writer in
          for await message in outbound { try await writer.write(message) }
        } onResponse: { response in
          defer { answers.finish() }
          try await self.serve(response.messages, memory) { answers.yield($0) }
        }
      }
    }
  }

  private func hello(_ token: String) throws -> Sidelight_V1_ProcessMessage.Hello {
    var hello = Sidelight_V1_ProcessMessage.Hello()
    hello.versions = [1]
    hello.token = token
    hello.library = "SidelightFilterProcesses"
    for name in self.filters {
      guard let description = self.catalogue.description(named: name) else {
        throw FilterProcessError("the catalogue has no filter '\(name)'")
      }
      hello.filters.append(
        .with {
          $0.filter = Sidelight_V1_FilterDescription(description)
          $0.format = Sidelight_V1_PixelFormat(self.format)
        })
    }
    return hello
  }

  private func serve(
    _ messages: some AsyncSequence<Sidelight_V1_HostMessage, any Error>, _ memory: PixelBuffer,
    _ answer: (Sidelight_V1_ProcessMessage) -> Void
  ) async throws {
    let compute = ComputePool()
    defer { compute.shutdown() }
    let executor = PlanExecutor(pool: BufferPool(), compute: compute)
    var sessions: [UInt64: Session] = [:]
    for try await message in messages {
      switch message.kind {
      case .openSession(let open)?:
        do {
          sessions[open.session] = try self.session(open)
          answer(.with { $0.opened.session = open.session })
        } catch {
          answer(
            .with {
              $0.refused.session = open.session
              $0.refused.message = "\(error)"
            })
        }
      case .frame(let frame)?:
        guard var session = sessions[frame.session] else { continue }
        let start = ContinuousClock.now
        var failure: String?
        do {
          try await self.filter(frame, &session, executor, memory)
        } catch {
          failure = "\(error)"
        }
        sessions[frame.session] = session
        let elapsed = UInt64(max(0, (ContinuousClock.now - start) / .microseconds(1)))
        answer(
          .with {
            if let failure {
              $0.failed.frame = frame.frame
              $0.failed.message = failure
              $0.failed.processUs = elapsed
            } else {
              $0.result.frame = frame.frame
              $0.result.processUs = elapsed
            }
          })
      case .closeSession(let close)?: sessions[close.session] = nil
      case .welcome?, .cancel?, nil: break
      }
    }
  }

  private func session(
    _ open: Sidelight_V1_HostMessage.OpenSession
  ) throws -> Session {
    let parameters = try open.parameters.mapValues { try ParameterValue($0) }
    return Session(
      filter: open.filter, parameters: parameters,
      pipeline: try self.catalogue.resolve([.filter(open.filter, parameters)]))
  }

  private func filter(
    _ message: Sidelight_V1_HostMessage.Frame, _ session: inout Session, _ executor: PlanExecutor,
    _ memory: PixelBuffer
  ) async throws {
    if message.hasParameters {
      session.parameters = try message.parameters.values.mapValues { try ParameterValue($0) }
      session.pipeline = try self.catalogue.resolve([.filter(session.filter, session.parameters)])
      session.plan = nil
    }
    let layout = try FrameLayout(
      format: self.format,
      size: FrameSize(width: Int(message.input.width), height: Int(message.input.height)),
      planes: message.input.planes.map {
        PlaneLayout(offset: Int($0.offset), stride: Int($0.stride))
      }, available: memory.byteCount)
    let frame = Frame(
      layout: layout, color: ColorDescription(message.color),
      orientation: try Orientation(message.orientation), buffer: memory)
    let plan: Plan
    if let known = session.plan, known.input == frame.geometry {
      plan = known
    } else {
      plan = session.pipeline.plan(for: frame.geometry)
      session.plan = plan
    }
    guard plan.output == frame.geometry else {
      throw FilterProcessError("filters that change the size cannot be served")
    }
    try await executor.run(
      plan, on: frame, into: MutableFrame(layout: layout, color: frame.color, buffer: memory),
      at: FrameTime(index: message.index, arrival: .nanoseconds(message.arrivalTimeNs)))
  }
}
