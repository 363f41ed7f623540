import MartletCore
import MartletCrypto
import MartletModel
import MartletPush
import MartletTesting
import Testing

@testable import MartletServer

struct CredentialExpiriesTests {
    private static let now = Timestamp(seconds: 1_700_000_000)
    private static let day = 86_400.0

    private func hubs(_ daysOfCertificates: [Int]) async throws -> HubDirectory {
        let hubs = HubDirectory(store: MemoryStorage(), platforms: PushPlatforms.all, time: ManualTimeSource())
        let now = Int(Self.now.seconds)
        let authority = try CertificateAuthority.generate(commonName: "CA", now: now)
        for (number, days) in daysOfCertificates.enumerated() {
            let name = "hub" + (number < 10 ? "00" : number < 100 ? "0" : "") + String(number)
            _ = try await hubs.create(name)
            let request = CertificateRequest(commonName: "Push", userID: "com.example.app")
            let identity = try authority.issue(request, now: now, days: days)
            let pem = try identity.certificatePEM() + identity.privateKeyPEM()
            let credential = Credential(["ApnsCertificate": pem])
            try await hubs.setCredential(credential, for: PlatformID(rawValue: "apns"), of: name)
        }
        return hubs
    }

    @Test func aCertificatesEndIsTold() async throws {
        let hubs = try await hubs([3])
        _ = try await hubs.create("without")
        let expiries = CredentialExpiries(hubs: hubs, platforms: PushPlatforms.all)
        let samples = await expiries.samples(at: Self.now)
        #expect(samples.map(\.labels) == [["hub000", "apns"]])
        #expect(samples.map(\.value) == [3 * Self.day])
        #expect(await expiries.samples(at: Self.now + .seconds(4 * 86_400)).map(\.value) == [-Self.day])
        try await hubs.setCredential(nil, for: PlatformID(rawValue: "apns"), of: "hub000")
        #expect(await expiries.samples(at: Self.now).isEmpty)
    }

    @Test func behindTheLimitTheSoonestEndOfAllOthersIsTold() async throws {
        let limit = CredentialExpiries.hubLimit
        let hubs = try await hubs(Array(repeating: 9, count: limit) + [7, 5, 6])
        let samples = await CredentialExpiries(hubs: hubs, platforms: PushPlatforms.all).samples(at: Self.now)
        #expect(samples.count == limit + 1)
        let other = samples.filter { $0.labels[0] == CredentialExpiries.otherHubs }
        #expect(other.map(\.value) == [5 * Self.day])
        #expect(!HubName.isValid(CredentialExpiries.otherHubs))
    }
}
