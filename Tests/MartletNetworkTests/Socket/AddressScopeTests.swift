import MartletHTTP
import Testing

@testable import MartletNetwork

struct AddressScopeTests {
    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.1", "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0",
        "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700::1111", "2a00:1450:4001::1", "2001:4860::8888",
        "2001:200::1", "64:ff9b::8.8.8.8",
    ])
    func addressesOfTheInternetArePublic(text: String) throws {
        #expect(try #require(SocketAddress(address: text, port: 443)).isPublic)
    }

    @Test(arguments: [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1",
        "127.255.255.254", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1",
        "192.168.0.1", "192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1",
        "239.255.255.255", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::ffff:8.8.8.8", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::127.0.0.1",
        "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "2001::1", "2001:1ff::1", "2001:db8::1", "2002:7f00:1::1",
        "3fff::1", "fc00::1", "fd12:3456::1", "fe80::1", "fec0::1", "ff02::1", "5f00::1", "4000::1",
    ])
    func allOtherAddressesAreNot(text: String) throws {
        #expect(try !#require(SocketAddress(address: text, port: 443)).isPublic)
    }

    @Test func aUnixSocketIsNotPublic() throws {
        #expect(try !#require(SocketAddress(unixPath: "/run/x")).isPublic)
    }

    @Test(arguments: [
        ("8.8.8.8", 443, true, true), ("8.8.8.8", 8443, true, true), ("8.8.8.8", 1024, true, true),
        ("8.8.8.8", 25, false, false), ("8.8.8.8", 80, false, false), ("8.8.8.8", 1023, false, false),
        ("127.0.0.1", 443, false, true), ("127.0.0.1", 25, false, true), ("::1", 9000, false, true),
        ("::ffff:127.0.0.1", 443, false, false), ("10.0.0.1", 443, false, false), ("fe80::1", 443, false, false),
    ])
    func eachPolicyAllowsWhatItSays(text: String, port: UInt16, isPublic: Bool, isPublicOrLoopback: Bool) throws {
        let address = try #require(SocketAddress(address: text, port: port))
        #expect(TransportSettings.Addresses.any.allow(address, .https))
        #expect(TransportSettings.Addresses.publicOnly.allow(address, .https) == isPublic)
        #expect(TransportSettings.Addresses.publicOrLoopback.allow(address, .https) == isPublicOrLoopback)
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("::1", true), ("8.8.8.8", false), ("10.0.0.1", false), ("169.254.169.254", false),
    ])
    func loopbackOnlyAllowsNothingElse(text: String, isAllowed: Bool) throws {
        let address = try #require(SocketAddress(address: text, port: 21_191))
        #expect(TransportSettings.Addresses.loopbackOnly.allow(address, .https) == isAllowed)
    }

    @Test(arguments: [(80, true), (443, false), (25, false), (8080, true)])
    func clearTextHasItsOwnPort(port: UInt16, isAllowed: Bool) throws {
        let address = try #require(SocketAddress(address: "8.8.8.8", port: port))
        #expect(TransportSettings.Addresses.publicOnly.allow(address, .http) == isAllowed)
    }
}
