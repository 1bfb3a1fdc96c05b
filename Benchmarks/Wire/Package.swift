// swift-tools-version: 6.2
import PackageDescription

/// The Swift side of the wire's benchmark: clients for a `sidelight serve`, and what they carry,
/// measured apart. `bench.py` starts them, and the peers beside them.
let package = Package(
  name: "wire",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "sidelight", path: "../.."),
    .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.3"),
    .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.2"),
    .package(url: "https://github.com/grpc/grpc-swift-protobuf", from: "2.4.1"),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0", traits: []),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
  ],
  targets: [
    // The generated code, as anybody's client would have it: the product keeps its own to itself.
    .target(
      name: "Contract",
      dependencies: [
        .product(name: "GRPCCore", package: "grpc-swift-2"),
        .product(name: "GRPCProtobuf", package: "grpc-swift-protobuf"),
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
      ],
      path: "Sources/Contract"),
    .systemLibrary(
      name: "CLibJPEG", path: "Sources/CLibJPEG", pkgConfig: "libturbojpeg",
      providers: [.apt(["libturbojpeg0-dev"]), .brew(["jpeg-turbo"])]),
    .executableTarget(
      name: "wire",
      dependencies: [
        "Contract", "CLibJPEG",
        .product(name: "SidelightClient", package: "sidelight"),
        .product(name: "GRPCCore", package: "grpc-swift-2"),
        .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
        .product(name: "NIOCore", package: "swift-nio"),
      ],
      path: "Sources/wire",
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
      ]),
  ]
)
