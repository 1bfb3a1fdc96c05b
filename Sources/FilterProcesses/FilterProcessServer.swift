import CFilterProcess
import Foundation
import GRPCCore
public import SidelightKernels
public import SidelightScene
import SidelightTransport
import SidelightWire
import SwiftProtobuf

/// A filter process in Swift: it serves filters of a catalogue, mattes and a face finder to the
/// server that has started it.
///
/// ```swift
/// var catalogue = FilterCatalogue.builtIn
/// catalogue.register(CustomFilter("emboss", "Shows slopes.", neighborhood: Emboss()))
/// try await FilterProcessServer(catalogue, filters: ["emboss"]).run()
/// ```
public struct FilterProcessServer: Sendable {
  private let catalogue: FilterCatalogue
  private let filters: [String]
  private let format: SidelightKernels.PixelFormat
  private let mattes: [String: @Sendable () -> any MatteSource]
  private let faceFinder: (name: String, make: @Sendable () -> any FaceFinder)?

  /// Creates a filter process.
  ///
  /// - Parameters:
  ///   - catalogue: The filters.
  ///   - filters: The names of the filters to serve. They return pictures of the input's size.
  ///   - format: The format of pictures: any except `rgba8`.
  ///   - mattes: The sources of mattes, by the name that background filters use.
  ///   - faceFinder: The finder for all filters that need faces, and its name; `nil` keeps the
  ///     host's.
  public init(
    _ catalogue: FilterCatalogue, filters: [String],
    format: SidelightKernels.PixelFormat = .bgra8,
    mattes: [String: @Sendable () -> any MatteSource] = [:],
    faceFinder: (name: String, make: @Sendable () -> any FaceFinder)? = nil
  ) {
    self.catalogue = catalogue
    self.filters = filters
    self.format = format
    self.mattes = mattes
    self.faceFinder = faceFinder
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
          // Filters that read more than one pixel cannot write into their input.
          guard description.reach != .pixel else { return }
          $0.output = Sidelight_V1_OutputSize()
          $0.fillsOutput = true
          $0.keepsPositions = true
        })
    }
    for name in self.mattes.keys.sorted() {
      hello.filters.append(
        .with {
          $0.filter.name = name
          $0.filter.summary = "A matte."
          $0.kind = .matte
          $0.format = Sidelight_V1_PixelFormat(ServedMatte.format)
          $0.fillsOutput = true
        })
    }
    if let faceFinder {
      hello.filters.append(
        .with {
          $0.filter.name = faceFinder.name
          $0.filter.summary = "Finds faces."
          $0.kind = .faces
          $0.format = Sidelight_V1_PixelFormat(ServedFaceFinder.format(of: faceFinder.make()))
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
    let executors = ServedExecutors(compute)
    var sessions: [UInt64: any ServedSession] = [:]
    for try await message in messages {
      switch message.kind {
      case .openSession(let open)?:
        do {
          sessions[open.session] = try self.session(open, executors)
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
        let result: Result<Sidelight_V1_ProcessMessage.Result, any Error>
        do {
          result = .success(try await session.answer(frame, in: memory))
        } catch {
          result = .failure(error)
        }
        sessions[frame.session] = session
        let elapsed = UInt64(max(0, (ContinuousClock.now - start) / .microseconds(1)))
        answer(
          .with {
            switch result {
            case .success(let result):
              $0.result = result
              $0.result.frame = frame.frame
              $0.result.processUs = elapsed
            case .failure(let error):
              $0.failed.frame = frame.frame
              $0.failed.message = "\(error)"
              $0.failed.processUs = elapsed
            }
          })
      case .closeSession(let close)?: sessions[close.session] = nil
      case .welcome?, .cancel?, nil: break
      }
    }
  }

  private func session(
    _ open: Sidelight_V1_HostMessage.OpenSession, _ executors: ServedExecutors
  ) throws -> any ServedSession {
    if let makeMatte = self.mattes[open.filter] { return ServedMatte(source: makeMatte()) }
    if let faceFinder, faceFinder.name == open.filter {
      return ServedFaceFinder(faceFinder.make())
    }
    return try ServedFilter(open, self.format, in: self.catalogue, executors)
  }
}
