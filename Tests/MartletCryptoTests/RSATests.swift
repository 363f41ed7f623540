import MartletCrypto
import Testing

struct RSATests {
    /// Made for this test.
    private let pem = """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7BkexAgKjxgR/
        EGe3n4CeHd8qKZ9VlyrbzaLcNyHkfBAZWzlj26r6iXDo+uQVPI5oEWvwLJPNP1rK
        yr58HiTcdjqnBrJOYJYRzbi3WtgJCQ5GVi19C0M0kl6a8Lz1nAGWOLU1fCojSaxd
        8GT6PjSTlhTr2s/dz2DcQVNbaYN6GG5JP1y/XiBq5W5xp3B1doqCj0ey44xQ/7o2
        JN/mS3LKhhSMC8lsOpO6Z4YEubue9rNp0NCVx00BrN2mPIqYs5e8STbANo991I8s
        r5+VGRr3woMPyKrLfCkf//8hepy15+ZLN+TqfYlGhra0YeB/R4kXfY0PT54/ODZw
        0h0dd06tAgMBAAECggEAA8B0XFRq6THDXmIsD1wGL5QMcJpIGDvfyN2+J+FECBh+
        69kTG7yhyi7ne2uo0GN4Ems0myQ7HrKSlBwICEOLUbOlWxCwaIG2IBXqpw8xcaaD
        U+8qWw2BXpoH3FEeDi1jlG0/aLBK4OKe4e9uwVy1CiJWebcYhuhVj7vJahnlZ8dy
        ErcyvLHs3BbgafVCO5ypL3wOcMG/D/mVxB0Quh8z67hS8kIjJGr7pMlif9kNMqmT
        T9YXyTdobjJ6VKBuh/wQUMtp44my2eD2tgGaCejj2JTGvDHlcQCZlGH/V1gugN40
        FspvlQNAVyyZ9/109LWLL5tLDOKFgVfMViaaYJmHoQKBgQDdLQ5CcBcOvjw2yWqX
        VmvTrseGPBPoNZrbaHihkHO2k2hyT3dzEJ0sMMqVlFJccjnWnJhcNmnrPzcirase
        VllkSgjG95fPNUCKFSuA+Uf41lPLApV8w7Gj6e79wvWTuOAkXpvOQmdYanyn0x3a
        2KJyqMynamdF5Hppymm2AZRA4QKBgQDYeK4+FsmU50krjTwtmKfYev54klgYY4KE
        vP30fQcob7BeIJwXa2ESZv7jYT5QevJRl7InV82cS+AzNo695Bwqs1jVSVzwwRUS
        GGxkgDZ1PqIaEprb5iv+x9a33Cd6qfk4orEOg+wmDl65O6ysj3IsCJL8ytDTqVr9
        4D8jSjorTQKBgCnOrndYgMNEqlUg1YktyMwGqahyCsFGALOgl8zSZU0JqCCTbNzP
        MyZ7Qo/rrXXUEaLDjvk/P9474MwpT8M4R0VxyR7zBjsgscZoIgULGdOrj8M8Bc3D
        n/x/57EH/SujMpstVv4yBx7rYgzHF0ma0Xoi9ixfLI5Fle4RWNISkleBAoGBAMye
        vq3oImJDgjHNzm2XWElUcciNJQLgxVYtw6xgpux9Luy6zHGCyf54J0XN/PZcUUP5
        Lajs4Wl1e5dNYf5zaoCeiUELmPPmv8EcHxGc9F09eENHBOUKHNo4Emo3i4Xyt6bm
        epEq+IU8niNgGif/bD/dVvvnxx/cfStv1p7IIlYdAoGATZj7vPCj+iGPB2In6smO
        h61MvtTezWvyoVmPpwz8xrGg0pY0Ke9ycwYLqhStCwhCRmRTdStmhS4Bxe1qqaw+
        FU0cEVB2LdAFtBJKZnwwN5y3RPFVVCYnw/uW4Z3WKj/Sx9eurT+WL5qCcpSis70Q
        kP24m3UIepKZA/J93ePUkJk=
        -----END PRIVATE KEY-----

        """
    /// Of `header.claims`, by the library's command line.
    private let signature = """
        TLjj3JMF0zcIfAy/kJsCN5yLvNZAnBQ3LJ7fbFI1JY6ZJvoZsp19ahDzOqnSgHlFlRyis1MqsVhGHBWVVgtIPV6zShHKOODZ6H06
        5VQW1F21QEcojwUV2pInpTaLW3c53KGznbrjLrU7rRTCPNobckojU1iOLL31AwjkJX/OvGY+tVUxI/7Jxi/YcpUDWkCXHOmgeZOm
        G20Bk5qbHpJfN0edH5D7kDURl02F14MNSLtiuc33isIwns/FF1BT0tDaf+rnjNZ2bJUH9C/TiUTD63WBYs+xlo/LqglDcPsdQdqE
        q1kfPRE2/U4cOe+JdxA4roWOlpW3inddxgm+0h7DcA==
        """
    private let weak = """
        -----BEGIN PRIVATE KEY-----
        MIICdwIBADANBgkqhkiG9w0BAQEFAASCAmEwggJdAgEAAoGBANegsn5Ya2P58QwM
        QebItSugjZrGjiJIG0VoH/ZDFjKrA0JrNb4EJ32JqqsWipLkJTYk8F3g5lkti7x5
        ia4/EtFKmBkOF0CNw7yKOUT9uRhu0SY1go/DeNUWw/WDqZAGOt5PJ8chOi+EYWYw
        LjyMR1MfPFt37Pmrjwp/WwktLUaVAgMBAAECgYEAmOdqS2/Vz1Jo3RtADDBdUG+M
        mqmcFrE9LW2V5KJT9mAQcqPluzXk7v+VV7cnUtyXipqNHHUjwy8p/N/OgxJU+2l3
        pVdA1Wfi4VJ/dPOZDwrZlvR9ha80wF7FQsApyNbTqXFl2e75dR9oGSQaFvWWHOE7
        0Z141bOUuVf+ZkMUMCECQQDwLOh23GzDuTcbMzX82hbccK/bTBPKMRzH5Mf1YvqY
        VajfcXpy4dddZgZ2XRDhTB9qj9kfZAGPF6+fWvqpS9K9AkEA5dW82yvtsSx/OTNa
        Z4uei21QnNpaNpPB1Fz1N5yjfqv05cgB/cEqnoARJRnOaj58lRE7+kq3QD34+mjk
        /SesuQJBAN+z1GoxcRT0RMGO93Al6jk0tHd76sre58G/9Ac5Q9PzpTFJzxWGCUSz
        LL2+fWR7tJ9akI9OZK1VEH1LDkH1n7kCQCtLFLUQVEjQgfKLatcgZLAM2meBdgbb
        1GIlVIeyONXunEYAY+eh0F5k71XWw5wdwyftRCgElPpD8jdxNNk+9PkCQGtRNSTM
        1seGADiOAGkDzTi+G4dIyWNpm9pElvP1h/ESM+vXWaIXoCZ2WkJtdF4vr9S72BPc
        wcfwbGs/3xf5SNw=
        -----END PRIVATE KEY-----

        """

    @Test func aSignatureIsTheOneThatOthersMake() throws {
        let key = try RSAPrivateKey(pem: pem)
        let known = try #require(Base64.decode(signature.filter { !$0.isWhitespace }))
        #expect(try key.signature(for: Array("header.claims".utf8)) == known)
        #expect(key.publicKey.isValid(known, for: Array("header.claims".utf8)))
        #expect(!key.publicKey.isValid(known, for: Array("header.claimz".utf8)))
        #expect(!key.publicKey.isValid(Array(known.dropLast()), for: Array("header.claims".utf8)))
        #expect(!key.publicKey.isValid([], for: Array("header.claims".utf8)))
    }

    @Test func aKeyIsTheSameInEveryForm() throws {
        let key = try RSAPrivateKey(pem: pem)
        #expect(try key.pem() == pem)
        let signature = try key.signature(for: [1, 2, 3])
        #expect(try RSAPublicKey(pem: key.publicKey.pem()).isValid(signature, for: [1, 2, 3]))
        #expect(try !RSAPrivateKey.generate().publicKey.isValid(signature, for: [1, 2, 3]))
    }

    @Test func invalidAndWeakKeysAreRefused() throws {
        #expect(throws: CryptoError.malformedPrivateKey) { try RSAPrivateKey(pem: "hello") }
        #expect(throws: CryptoError.malformedPublicKey) { try RSAPublicKey(pem: "hello") }
        let kind = CryptoError.wrongKeyKind(expected: "an RSA key of 2,048 to 8,192 bits")
        #expect(throws: kind) { try RSAPrivateKey(pem: weak) }
        let other = try P256PrivateKey.generate()
        #expect(throws: kind) { try RSAPrivateKey(pem: other.pem()) }
        #expect(throws: kind) { try RSAPublicKey(pem: other.publicKey.pem()) }
    }
}
