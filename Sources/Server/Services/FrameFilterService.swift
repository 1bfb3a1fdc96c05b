import GRPCCore
import GRPCProtobuf
import Logging
import ServiceLifecycle
import SidelightCodecs
import SidelightKernels
import SidelightTransport
import SidelightWire
import SwiftProtobuf

/// `sidelight.v1.FrameFilter`.
///
/// It registers its methods itself: the generated registration only supports generated messages,
/// and a session's messages avoid copying their pixels.
struct FrameFilterService: RegistrableRPCService {
  private typealias Method = Sidelight_V1_FrameFilter.Method

  let engine: Engine
  let configuration: ServerConfiguration

  func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
    let stills = StillImageHandler(engine: self.engine)
    router.registerHandler(
      forMethod: Method.Process.descriptor,
      deserializer: ReceivedMessageDeserializer<Sidelight_V1_ClientMessage>(
        maxBytesWithoutPixels: self.configuration.guards.maxControlMessageBytes),
      serializer: OutgoingMessageSerializer<Sidelight_V1_ServerMessage>(),
      handler: self.process(request:context:))
    router.registerUnary(Method.Apply.descriptor, stills.apply)
    router.registerUnary(Method.ListFilters.descriptor, self.listFilters)
    router.registerUnary(Method.DescribeFilter.descriptor, self.describeFilter)
    router.registerUnary(Method.CheckPipeline.descriptor, stills.checkPipeline)
    router.registerUnary(Method.GetServerInfo.descriptor, self.getServerInfo)
    router.registerUnary(Method.Place.descriptor, self.place)
  }

  // MARK: Sessions

  private func process(
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
    // A shutdown cancels a call that has not opened a session.
    let first = try await cancelWhenGracefulShutdown { try await messages.next() }
    guard !Task.isShuttingDownGracefully else {
      throw GoogleRPCStatus.shuttingDown
    }
    guard case .open(let open)? = first?.message.kind else {
      throw FieldViolation(
        code: .failedPrecondition, field: "open", reason: "must be the first message")
    }
    let sessions = self.engine.admission.sessions
    let caller = try context.caller(actingFor: open.participant, field: "open.participant")
    let group = Array(request.metadata[stringValues: SessionGroup.metadataKey]).first ?? ""
    try SessionGroup.check(group, field: SessionGroup.metadataKey)
    try await sessions.withAdmission(
      for: caller.identity, resumes: !open.resumeToken.isEmpty
    ) { number in
      let options = try SessionOptions(
        open, framesInFlight: self.engine.admission.framesInFlight,
        limits: self.engine.admission.frameLimits)
      if let composition = options.composition {
        try FieldViolation.within("open.composition") { () throws(FieldViolation) in
          try sessions.check(composition, of: caller.identity.caller)
        }
      }
      let session = try Session(
        number: number, caller: caller, group: group, options: options,
        catalogue: self.engine.catalogue(for: caller, allowedFilters: options.allowedFilters),
        engine: self.engine,
        callContext: self.engine.observability.tracing.context(of: request.metadata))
      sessions.add(session.handle)
      // Shared memory that the client has not fetched is revoked. Memory in use lives until its
      // last reference ends.
      defer { self.engine.rings?.revoke(session.handle.id) }
      self.logOpened(session, caller)
      defer { self.logEnded(session) }
      try await self.engine.assets.withSession(of: caller.identity) {
        try await session.run(
          messages: messages, writer: writer, callMessages: context.makeCallMessages(),
          cancellation: context.cancellation)
      }
    }
  }

  private func logOpened(_ session: Session, _ caller: Caller) {
    session.handle.logger.info(
      "session opened",
      metadata: ["peer": "\(caller)", "label": "\(session.options.open.label)"]
        .addingParticipant(caller.participant))
  }

  private func logEnded(_ session: Session) {
    let counts = session.outcomes.counts
    session.handle.logger.info(
      "session ended",
      metadata: [
        "received": "\(counts.received)", "filtered": "\(counts.filtered)",
        "passed_through": "\(counts.passedThrough)", "dropped": "\(counts.allDropped)",
      ].addingParticipant(session.handle.identity.participant))
  }

  // MARK: The catalogue

  private func listFilters(
    request: ServerRequest<Sidelight_V1_ListFiltersRequest>, context: ServerContext
  ) async throws -> ServerResponse<Sidelight_V1_ListFiltersResponse> {
    let category = request.message.category
    try ContractLimits.check(category, atMost: Pipeline.maxNameBytes, field: "category")
    let caller = try context.caller(actingFor: request.message.participant, field: "participant")
    let catalogue = self.engine.permittedCatalogue(for: caller)
    guard category.isEmpty || FilterDescription.Category(rawValue: category) != nil else {
      let categories = FilterDescription.Category.allCases.map(\.rawValue).joined(separator: ", ")
      throw FieldViolation(
        field: "category", reason: "is '\(category)'; it must be one of \(categories)",
        info: .init(reason: "UNKNOWN_NAME", value: category, limit: categories))
    }
    let response = Sidelight_V1_ListFiltersResponse.with {
      $0.filters =
        catalogue.permittedDescriptions
        .filter { category.isEmpty || $0.category.rawValue == category }
        .map(Sidelight_V1_FilterDescription.init)
    }
    return ServerResponse(message: response)
  }

  private func describeFilter(
    request: ServerRequest<Sidelight_V1_DescribeFilterRequest>, context: ServerContext
  ) async throws -> ServerResponse<Sidelight_V1_DescribeFilterResponse> {
    let name = request.message.name
    let catalogue = self.engine.permittedCatalogue(for: context.caller)
    try ContractLimits.check(name, atMost: Pipeline.maxNameBytes, field: "name")
    guard let description = catalogue.description(named: name) else {
      let suggestion = catalogue.nearestName(to: name)
      let hint = suggestion.map { "; did you mean \($0)?" }
      throw FieldViolation(
        code: .notFound, field: "name",
        reason: "there is no filter '\(name)'\(hint ?? "")",
        info: .unknown(name, suggestion: suggestion))
    }
    guard let permitted = catalogue.permitted(description) else {
      throw FieldViolation(
        code: .permissionDenied, field: "name",
        reason: "the filter '\(description.name)' is not permitted",
        info: .init(reason: "NOT_PERMITTED", value: description.name))
    }
    return ServerResponse(
      message: .with { $0.filter = Sidelight_V1_FilterDescription(permitted) })
  }

  // MARK: The server

  private func getServerInfo(
    request: ServerRequest<Sidelight_V1_GetServerInfoRequest>, context: ServerContext
  ) async throws -> ServerResponse<Sidelight_V1_GetServerInfoResponse> {
    let (processing, sessions) = (self.engine.processing, self.engine.admission.sessions)
    let pool = processing.pool.statistics
    let requests = pool.hits + pool.misses
    let assets = self.engine.assets.contents
    let response = Sidelight_V1_GetServerInfoResponse.with {
      $0.version = SidelightVersion.current
      $0.limits = self.engine.admission.limits
      $0.assetLimits = Sidelight_V1_AssetLimits(self.configuration.assets)
      $0.features = Self.features + (self.engine.rings == nil ? [] : ["shared_memory"])
      $0.codecs = VideoCodec.allCases.map(Sidelight_V1_VideoCodec.init)
      $0.instructionSet = InstructionSet.current.rawValue
      $0.transport = Sidelight_V1_TransportSettings(self.configuration)
      $0.load.sessions = UInt32(clamping: sessions.count)
      $0.load.computeThreads = UInt32(clamping: processing.compute.threadCount)
      $0.load.poolBytesInUse = UInt64(clamping: pool.bytesInUse)
      $0.load.poolBytesIdle = UInt64(clamping: pool.bytesIdle)
      $0.load.poolHitRate = requests == 0 ? 0 : Double(pool.hits) / Double(requests)
      $0.load.schedulerLoad = processing.scheduler.load
      $0.load.frames = Sidelight_V1_Stats(sessions.totals, isFinal: false)
      $0.load.sharedMemoryBytes = UInt64(clamping: self.engine.rings?.bytesReserved ?? 0)
      $0.load.assets = UInt32(clamping: assets.count)
      $0.load.assetBytes = UInt64(clamping: assets.bytes)
    }
    return ServerResponse(message: response)
  }

  private func place(
    request: ServerRequest<Sidelight_V1_PlaceRequest>, context: ServerContext
  ) async throws -> ServerResponse<Sidelight_V1_PlaceResponse> {
    let request = request.message
    try SessionGroup.check(request.group, field: "group")
    _ = try context.caller(actingFor: request.participant, field: "participant")
    guard (0 ... 1).contains(request.cost) else {
      throw FieldViolation(
        field: "cost", reason: "is \(request.cost); it must be 0 to 1",
        info: .outOfRange(request.cost, limit: "0 to 1"))
    }
    guard let peers = self.engine.peers else {
      throw GoogleRPCStatus(
        code: .failedPrecondition,
        message: "The server does not know a fleet; set fleet.peers to its addresses.")
    }
    let names = [request.group, request.participant]
    let key = names.first { !$0.isEmpty } ?? "\(UInt64.random(in: .min ... .max))"
    let order = Placement.order(
      peers.current, for: key, isGroup: !request.group.isEmpty, cost: request.cost)
    guard !order.isEmpty else {
      throw GoogleRPCStatus(
        code: .unavailable, message: "No server of the fleet reports its load.",
        details: .retryInfo(delay: .seconds(1)))
    }
    return ServerResponse(
      message: .with {
        $0.addresses = order.map(\.address)
        $0.timeToLive = Google_Protobuf_Duration(seconds: 10)
      })
  }

  /// The optional features of the contract supported by this build.
  private static let features = [
    "apply.jpeg", "apply.png", "assets", "assets.participant", "kernels", "output",
    "process.accepted",
    "process.activate", "process.allow_degraded", "process.allowed_filters", "process.analysis",
    "process.analysis_only", "process.budget", "process.composition",
    "process.failure_policy", "process.jpeg",
    "process.max_fps", "process.move", "process.output_window", "process.outputs",
    "process.participant",
    "process.pause",
    "process.pipeline_text", "process.resume_token", "process.stats_interval",
    "process.transitions", "process.unmodified", "process.update", "sessions",
    "sessions.close", "sessions.move", "sessions.participant",
  ]
}

extension Sidelight_V1_VideoCodec {
  fileprivate init(_ codec: VideoCodec) {
    self.init()
    self.format = Sidelight_V1_PixelFormat(codec)
    self.library = codec.library ?? ""
    self.decodes = codec.canDecode
    self.encodes = codec.canEncode
  }
}

extension RPCRouter {
  /// Registers a unary method, as generated code does.
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

extension Sidelight_V1_TransportSettings {
  /// Creates the active settings from a configuration.
  init(_ configuration: ServerConfiguration) {
    let transport = configuration.transport
    self.init()
    self.profile = transport.profile?.rawValue ?? "custom"
    self.maxMessageBytes = UInt64(clamping: transport.maxMessageBytes)
    self.streamWindowBytes = UInt32(clamping: transport.streamWindowBytes)
    self.http2FrameBytes = UInt32(clamping: transport.http2FrameBytes)
    self.maxConcurrentStreams = UInt32(clamping: transport.maxConcurrentStreams)
    self.receiveBufferBytes = UInt32(clamping: transport.receiveBufferBytes)
    self.flushDelayUs = transport.flushCoalescing?.delay.wireMicroseconds ?? 0
    self.flushBytes = UInt32(clamping: transport.flushCoalescing?.bytes ?? 0)
    self.executor =
      switch transport.executor {
      case .eventLoops: .eventLoops
      case .concurrent: .concurrent
      }
    self.eventLoops = UInt32(clamping: transport.eventLoops ?? EventLoops.sharedCount)
    self.unixSocketBufferBytes = UInt32(clamping: transport.unixSocketBufferBytes ?? 0)
    // The allocator belongs to the process; a configuration does not set it.
    let allocator = AllocatorSettings.current
    self.allocator.mapThresholdBytes = UInt64(clamping: allocator.mapThreshold ?? 0)
    self.allocator.trimThresholdBytes = UInt64(clamping: allocator.trimThreshold ?? 0)
    self.allocator.topPadBytes = UInt64(clamping: allocator.topPad ?? 0)
    let idleTime = configuration.releaseMemoryAfter ?? .zero
    self.allocator.idleReleaseMs = UInt32(clamping: Int64(idleTime / .milliseconds(1)))
    self.allocator.arenas = UInt32(clamping: allocator.arenas ?? 0)
  }
}
