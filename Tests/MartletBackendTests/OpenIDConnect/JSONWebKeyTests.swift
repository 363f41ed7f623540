import MartletCrypto
import MartletModel
import MartletTesting
import Testing

@testable import MartletOpenIDConnect

struct JSONWebKeyTests {
    static let bad: [(name: String, value: JSON)] = [
        ("use", "enc"), ("use", 1), ("key_ops", ["encrypt"]), ("key_ops", "verify"), ("key_ops", []), ("alg", "RS256"),
        ("alg", "ES384"), ("kty", "oct"), ("kty", "RSA"), ("crv", "P-384"), ("x", "AA"), ("x", .null), ("y", "AA=="),
        ("d", "AA"), ("kid", 7),
    ]

    @Test(arguments: bad)
    func aKeyForSomethingElseIsLeftOut(name: String, value: JSON) throws {
        var key = try #require(try TokenMaker().jwk.object)
        key[name] = value == .null ? nil : value
        #expect(JSONWebKey(.object(key)) == nil)
    }

    static let good: [(name: String, value: JSON)] = [
        ("use", "sig"), ("key_ops", ["verify"]), ("key_ops", ["sign", "verify"]), ("alg", "ES256"), ("x5c", ["MII"]),
    ]

    @Test(arguments: good)
    func aKeyForSignaturesMaySaySo(name: String, value: JSON) throws {
        var key = try #require(try TokenMaker().jwk.object)
        key[name] = value
        #expect(JSONWebKey(.object(key))?.algorithm == .es256)
    }

    @Test func aPointBesideTheCurveIsNoKey() throws {
        var key = try #require(try TokenMaker().jwk.object)
        key["y"] = key["x"]
        #expect(JSONWebKey(.object(key)) == nil)
    }

    private func rsa(bits: Int, exponent: String = "AQAB") -> JSONWebKey? {
        let modulus = [0x80] + [UInt8](repeating: 0xA5, count: bits / 8 - 1)
        return JSONWebKey(["kty": "RSA", "n": .string(Base64URL.encode(modulus)), "e": .string(exponent)])
    }

    @Test func rsaKeysAreNeitherWeakNorABurden() {
        #expect(rsa(bits: 2048) != nil)
        #expect(rsa(bits: 1024) == nil)
        #expect(rsa(bits: 2040) == nil)
        #expect(rsa(bits: 16_384) == nil)
        #expect(rsa(bits: 2048, exponent: "AQ") == nil, "an exponent of 1 signs everything")
        #expect(rsa(bits: 2048, exponent: "") == nil)
        #expect(rsa(bits: 2048, exponent: "Ag") == nil)
    }

    @Test func aSetMayHaveKeysOfOtherKinds() throws {
        let maker = try TokenMaker(id: "b")
        let set: JSON = ["keys": [["kty": "OKP", "crv": "Ed25519", "kid": "a", "x": "AA"], maker.jwk, 7, [:]]]
        #expect(JSONWebKey.keys(ofSet: set.bytes)?.map(\.id) == ["b"])
    }

    @Test(arguments: ["", "[]", "{}", #"{"keys":{}}"#, "<html>"])
    func anInvalidKeySetHasNoKeys(text: String) {
        #expect(JSONWebKey.keys(ofSet: Array(text.utf8)) == nil)
    }
}
