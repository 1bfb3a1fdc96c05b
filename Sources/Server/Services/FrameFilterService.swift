import GRPCCore
import GRPCProtobuf
import SidelightTransport
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
