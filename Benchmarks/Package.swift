// swift-tools-version: 6.2
import PackageDescription

/// The Swift programs of the benchmarks. They are separate from the product: its users do not build
/// them, and they see only what its users see. `dev/bench` builds and starts them.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let client: Target.Dependency = .product(name: "SidelightClient", package: "sidelight")
let kernels: Target.Dependency = .product(name: "SidelightKernels", package: "sidelight")
let kernelLanguage: Target.Dependency =
  .product(name: "SidelightKernelLanguage", package: "sidelight")
let vision: Target.Dependency = .product(name: "SidelightVision", package: "sidelight")
let text: Target.Dependency = .product(name: "SidelightText", package: "sidelight")
let grpcCore: Target.Dependency = .product(name: "GRPCCore", package: "grpc-swift-2")
let grpcProtobuf: Target.Dependency = .product(name: "GRPCProtobuf", package: "grpc-swift-protobuf")
let grpcTransport: Target.Dependency =
  .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport")
let protobuf: Target.Dependency = .product(name: "SwiftProtobuf", package: "swift-protobuf")

let package = Package(
  name: "benchmarks",
  platforms: [.macOS(.v15)],
  products: ["empty-filter", "kernels", "realtime", "vision", "wire"].map {
    .executable(name: $0, targets: [$0])
  },
  traits: [
    .trait(name: "Vision", description: "Builds Sidelight with Vision"),
    .trait(name: "Codecs", description: "Builds Sidelight with Codecs"),
  ],
  dependencies: [
    .package(
      name: "sidelight", path: "..",
      traits: [
        .trait(name: "Vision", condition: .when(traits: ["Vision"])),
        .trait(name: "Codecs", condition: .when(traits: ["Codecs"])),
      ]),
    .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.3"),
    .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.2"),
    .package(url: "https://github.com/grpc/grpc-swift-protobuf", from: "2.4.1"),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0", traits: []),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
  ],
  targets: [
    // Shared by the programs below: percentiles, arguments, pipelines, and a gRPC connection.
    .target(
      name: "BenchmarkSupport", dependencies: [kernels], path: "Shared/Support",
      swiftSettings: settings),
    .target(
      name: "BenchmarkClient",
      dependencies: [
        client, grpcCore, grpcTransport, .product(name: "NIOCore", package: "swift-nio"),
      ],
      path: "Shared/Client", swiftSettings: settings),

    // The filter engine without a server.
    .executableTarget(
      name: "kernels", dependencies: ["BenchmarkSupport", kernels, kernelLanguage, text],
      path: "Kernels/Sources/bench",
      swiftSettings: settings),

    // The filters of faces and backgrounds without a server.
    .executableTarget(
      name: "vision", dependencies: ["BenchmarkSupport", kernels, kernelLanguage, vision],
      path: "Vision/Sources",
      swiftSettings: settings),

    // A filter with an empty body, in a server and in processes.
    .executableTarget(
      name: "empty-filter",
      dependencies: [
        .product(name: "SidelightFilterProcesses", package: "sidelight"),
        .product(name: "SidelightServer", package: "sidelight"),
        kernelLanguage,
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "FilterProcesses/Sources", swiftSettings: settings),

    // A server under the load of live sessions.
    .executableTarget(
      name: "realtime", dependencies: ["BenchmarkClient", "BenchmarkSupport", grpcCore],
      path: "Realtime/Sources", swiftSettings: settings),

    // The cost of carrying frames. The generated code is compiled here again, as a client without
    // the library has it, because the product does not export its own.
    .target(
      name: "Contract", dependencies: [grpcCore, grpcProtobuf, protobuf],
      path: "Wire/Sources/Contract"),
    .systemLibrary(
      name: "CLibJPEG", path: "Wire/Sources/CLibJPEG", pkgConfig: "libturbojpeg",
      providers: [.apt(["libturbojpeg0-dev"]), .brew(["jpeg-turbo"])]),
    .executableTarget(
      name: "wire",
      dependencies: [
        "BenchmarkClient", "BenchmarkSupport", "Contract", "CLibJPEG", client, kernelLanguage,
        grpcCore, grpcTransport, protobuf,
      ],
      path: "Wire/Sources/wire", swiftSettings: settings),
  ]
)
