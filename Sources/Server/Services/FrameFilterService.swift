import GRPCCore
import GRPCProtobuf
import Logging
import ServiceLifecycle
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// `sidelight.v1.FrameFilter`. Each method is a file beside this one.
///
/// Registered by hand, since the generated registration knows only generated messages, and those of a
/// session leave their pixels where they are.
struct FrameFilterService: RegistrableRPCService {
  typealias Method = Sidelight_V1_FrameFilter.Method

  let engine: Engine
  let configuration: ServerConfiguration

  func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
    router.registerHandler(
      forMethod: Method.Process.descriptor,
      deserializer: ReceivedMessageDeserializer<Sidelight_V1_ClientMessage>(
        maxBytesBesidePixels: self.configuration.guards.maxControlMessageBytes),
      serializer: OutgoingMessageSerializer<Sidelight_V1_ServerMessage>(),
      handler: self.process(request:context:))
    router.registerUnary(Method.Apply.descriptor, self.apply(request:context:))
    router.registerUnary(Method.ListFilters.descriptor, self.listFilters(request:context:))
    router.registerUnary(Method.DescribeFilter.descriptor, self.describeFilter(request:context:))
    router.registerUnary(Method.CheckPipeline.descriptor, self.checkPipeline(request:context:))
    router.registerUnary(Method.GetServerInfo.descriptor, self.getServerInfo(request:context:))
  }
}

extension RPCRouter {
  /// A method of one request and one response, as the generated code would register it.
  fileprivate mutating func registerUnary<Input: Message, Output: Message>(
    _ method: MethodDescriptor,
    _ handler:
      @escaping @Sendable (ServerRequest<Input>, ServerContext) async throws -> ServerResponse<
        Output
      >
  ) {
    self.registerHandler(
      forMethod: method, deserializer: ProtobufDeserializer<Input>(),
      serializer: ProtobufSerializer<Output>()
    ) { request, context in
      StreamingServerResponse(
        single: try await handler(try await ServerRequest(stream: request), context))
    }
  }
}

extension FrameFilterService {
  func process(
    request: StreamingServerRequest<ReceivedMessage<Sidelight_V1_ClientMessage>>,
    context: ServerContext
  ) async throws -> StreamingServerResponse<OutgoingMessage<Sidelight_V1_ServerMessage>> {
    StreamingServerResponse { writer in
      try await self.serve(request, writer: writer, context: context)
      return [:]
    }
  }

  private func serve(
    _ request: StreamingServerRequest<ReceivedMessage<Sidelight_V1_ClientMessage>>,
    writer: RPCWriter<OutgoingMessage<Sidelight_V1_ServerMessage>>, context: ServerContext
  ) async throws {
    let messages = ClientMessages(request.messages)
    // A call that has not opened a session has nothing to finish: a shutdown cuts it off.
    let first = try await cancelWhenGracefulShutdown { try await messages.next() }
    guard !Task.isShuttingDownGracefully else {
      throw GoogleRPCStatus.shuttingDown
    }
    guard case .open(let open)? = first?.message.kind else {
      throw FieldFault(
        code: .failedPrecondition, field: "open", reason: "must be the first message")
    }
    let registry = self.engine.admission.sessions
    let caller = context.caller
    try await registry.withAdmission(for: caller.name) { number in
      let session = try Session(
        number: number, caller: caller,
        options: try SessionOptions(
          open, framesInFlight: self.engine.admission.framesInFlight,
          limits: self.engine.admission.frameLimits),
        catalogue: self.engine.catalogue(for: caller), engine: self.engine,
        callContext: self.engine.observability.tracing.context(of: request.metadata))
      registry.add(session.handle)
      // What was not fetched is not handed out any more. What was lives on while somebody reads it.
      defer { self.engine.rings?.revoke(session.handle.id) }
      var logger = self.engine.observability.logger
      logger[metadataKey: "session"] = "\(session.handle.id)"
      logger.info(
        "session opened",
        metadata: [
          "peer": "\(caller)", "label": "\(session.options.label)",
        ])
      defer {
        let counts = session.outcomes.counts
        logger.info(
          "session ended",
          metadata: [
            "received": "\(counts.received)", "filtered": "\(counts.filtered)",
            "passed_through": "\(counts.passedThrough)",
            "dropped": "\(counts.dropped.values.reduce(0, +))",
          ])
      }
      try await self.engine.assets.withSession(of: caller.name) {
        try await session.run(
          messages: messages, writer: writer, callMessages: context.deposits(),
          cancellation: context.cancellation)
      }
    }
  }
}

extension FrameFilterService {
  func listFilters(
    request: ServerRequest<Sidelight_V1_ListFiltersRequest>, context: ServerContext
  ) async throws -> ServerResponse<Sidelight_V1_ListFiltersResponse> {
    let category = request.message.category
    try ContractLimits.check(category, atMost: Pipeline.maxNameBytes, field: "category")
    let descriptions = self.engine.compiler.catalogue.descriptions
    guard category.isEmpty || FilterDescription.Category(rawValue: category) != nil else {
      let categories = FilterDescription.Category.allCases.map(\.rawValue).joined(separator: ", ")
      throw FieldFault(
        field: "category", reason: "'\(category)' is none of \(categories)")
    }
    let response = Sidelight_V1_ListFiltersResponse.with {
      $0.filters =
        descriptions
        .filter { category.isEmpty || $0.category.rawValue == category }
        .map(Sidelight_V1_FilterDescription.init)
    }
    return ServerResponse(message: response)
  }

  func describeFilter(
    request: ServerRequest<Sidelight_V1_DescribeFilterRequest>, context: ServerContext
  ) async throws -> ServerResponse<Sidelight_V1_DescribeFilterResponse> {
    let name = request.message.name
    try ContractLimits.check(name, atMost: Pipeline.maxNameBytes, field: "name")
    guard let description = self.engine.compiler.catalogue.description(named: name) else {
      let hint = self.engine.compiler.catalogue.nearestName(to: name).map { "; did you mean \($0)?" }
      throw FieldFault(
        code: .notFound, field: "name",
        reason: "there is no filter '\(name)'\(hint ?? "")")
    }
    return ServerResponse(
      message: .with { $0.filter = Sidelight_V1_FilterDescription(description) })
  }
}

extension FrameFilterService {
  func getServerInfo(
    request: ServerRequest<Sidelight_V1_GetServerInfoRequest>, context: ServerContext
  ) async throws -> ServerResponse<Sidelight_V1_GetServerInfoResponse> {
    let pool = self.engine.processing.pool.statistics
    let requests = pool.hits + pool.misses
    let response = Sidelight_V1_GetServerInfoResponse.with {
      $0.version = SidelightVersion.current
      $0.limits = self.engine.admission.limits
      $0.features = Self.features + (self.engine.rings == nil ? [] : ["shared_memory"])
      $0.instructionSet = InstructionSet.current.rawValue
      $0.transport = Sidelight_V1_TransportSettings(self.configuration)
      $0.load.sessions = UInt32(clamping: self.engine.admission.sessions.count)
      $0.load.computeThreads = UInt32(clamping: self.engine.processing.compute.threadCount)
      $0.load.poolBytesInUse = UInt64(clamping: pool.bytesInUse)
      $0.load.poolBytesIdle = UInt64(clamping: pool.bytesIdle)
      $0.load.schedulerLoad = self.engine.processing.scheduler.load
      $0.load.frames = Sidelight_V1_Stats(self.engine.admission.sessions.totals, isFinal: false)
      $0.load.sharedMemoryBytes = UInt64(clamping: self.engine.rings?.bytesTaken ?? 0)
      let assets = self.engine.assets.contents
      $0.load.assets = UInt32(clamping: assets.count)
      $0.load.assetBytes = UInt64(clamping: assets.bytes)
      $0.assetLimits = Sidelight_V1_AssetLimits(self.configuration.assets)
      $0.load.poolHitRate = requests == 0 ? 0 : Double(pool.hits) / Double(requests)
    }
    return ServerResponse(message: response)
  }

  /// Optional behaviours of the contract that this build has.
  private static let features = [
    "apply.jpeg", "apply.png", "assets", "output", "process.activate", "process.allow_degraded",
    "process.analysis",
    "process.analysis_only",
    "process.budget",
    "process.failure_policy", "process.jpeg", "process.max_fps", "process.output_window",
    "process.pause",
    "process.resume_token", "process.stats_interval", "process.unmodified", "process.update",
    "sessions",
  ]
}
