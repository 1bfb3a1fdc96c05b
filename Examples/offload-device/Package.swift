// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "offload-device",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "offload-device", targets: ["offload-device"])],
  traits: [
    .trait(name: "Vision", description: "Sidelight with faces and models (needs OpenCV)"),
    .trait(name: "Codecs", description: "Sidelight with encoded video (needs its libraries)"),
  ],
  dependencies: [
    .package(
      name: "sidelight", path: "../..",
      traits: [
        .trait(name: "Vision", condition: .when(traits: ["Vision"])),
        .trait(name: "Codecs", condition: .when(traits: ["Codecs"])),
      ])
  ],
  targets: [
    .executableTarget(
      name: "offload-device",
      dependencies: [
        .product(name: "SidelightClient", package: "sidelight"),
        .product(name: "SidelightCodecs", package: "sidelight"),
      ])
  ]
)
