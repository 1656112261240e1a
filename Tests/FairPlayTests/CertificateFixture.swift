import Foundation

/// Certificates that this project would not make, made with the openssl command. Their keys were deleted.
enum CertificateFixture {
    /// A correct test certificate, made with the openssl command.
    static let marked = decoded(
        """
        MIICCDCCAXGgAwIBAgIUE9XxLxQ+SpWI3DIlBMvG6xqWgJ8wDQYJKoZIhvcNAQELBQAwGDEWMBQGA1UECgwNTGF0Y2hrZXkgVGVzdDAeFw0yNj
        ExMjEwNzE3MDVaFw0zNjExMTgwNzE3MDVaMBgxFjAUBgNVBAoMDUxhdGNoa2V5IFRlc3QwgZ8wDQYJKoZIhvcNAQEBBQADgY0AMIGJAoGBANKW
        hCT6eXVVRaRlYfljCsVFb4WXbwNKdROCFs/zLtxuuTIGrKNXwF7wptky650QUUjQi4hUwWqtV5Gz+2ViSOEG4mwt39u6/pqZZrX8DInJIOOWHf
        ubef+TxVqZFR5beEj+tzS9pDCYSZmtXp0E3Z/Nt6H7hibwGT071fIrLIMTAgMBAAGjTzBNMCwGFGmCqI6RstTM4uids+3zubn/yYMwBBQMEmxh
        dGNoa2V5LXRlc3Qtb25seTAdBgNVHQ4EFgQUi1AC+JiLpoe7bNZuXCriiNua6eYwDQYJKoZIhvcNAQELBQADgYEAcrJhJB18WNN3rX2oKHIor2
        FfK3N4XoFG89KnXD4O8JfBt0mlGiR32ui3XNmZ9RfV0+6cg4jIucPvY87rydiyBTPSz5iKtR7uBxfw0LoOIEFHh+UK1RymWSGpeIzbqerXOObF
        L+gDeskuM92NQgVSHHHc5RNasCI2p+Y2/R4eJgQ=
        """)

    /// The marker is critical.
    static let critical = decoded(
        """
        MIICCzCCAXSgAwIBAgIUfy/oqhpUMxTb8K6dODTB3FMlMxgwDQYJKoZIhvcNAQELBQAwGDEWMBQGA1UECgwNTGF0Y2hrZXkgVGVzdDAeFw0yNj
        ExMjEwNzE3MDVaFw0zNjExMTgwNzE3MDVaMBgxFjAUBgNVBAoMDUxhdGNoa2V5IFRlc3QwgZ8wDQYJKoZIhvcNAQEBBQADgY0AMIGJAoGBANKW
        hCT6eXVVRaRlYfljCsVFb4WXbwNKdROCFs/zLtxuuTIGrKNXwF7wptky650QUUjQi4hUwWqtV5Gz+2ViSOEG4mwt39u6/pqZZrX8DInJIOOWHf
        ubef+TxVqZFR5beEj+tzS9pDCYSZmtXp0E3Z/Nt6H7hibwGT071fIrLIMTAgMBAAGjUjBQMC8GFGmCqI6RstTM4uids+3zubn/yYMwAQH/BBQM
        EmxhdGNoa2V5LXRlc3Qtb25seTAdBgNVHQ4EFgQUi1AC+JiLpoe7bNZuXCriiNua6eYwDQYJKoZIhvcNAQELBQADgYEAiBEOCwPBqOb/9bjvk6
        SK68DeAcD7DnvGi18Hc6+MY22oW9PRJOTohn7HKhFLDQbOKqyedpSReTtJ9BRDU7AY7d0trnNfaB5XonoVU75pt62SOWE2qcnNUt9RxpJ/4vKU
        uuBt7Ly229ApTHkDxVpMzCNG0Z59PJbR4dLIqYyKouE=
        """)

    /// The marker has another text.
    static let otherText = decoded(
        """
        MIICCDCCAXGgAwIBAgIUYBECJzZYRU0AWMPsPxdEutwHbaowDQYJKoZIhvcNAQELBQAwGDEWMBQGA1UECgwNTGF0Y2hrZXkgVGVzdDAeFw0yNj
        ExMjEwNzE3MDVaFw0zNjExMTgwNzE3MDVaMBgxFjAUBgNVBAoMDUxhdGNoa2V5IFRlc3QwgZ8wDQYJKoZIhvcNAQEBBQADgY0AMIGJAoGBANKW
        hCT6eXVVRaRlYfljCsVFb4WXbwNKdROCFs/zLtxuuTIGrKNXwF7wptky650QUUjQi4hUwWqtV5Gz+2ViSOEG4mwt39u6/pqZZrX8DInJIOOWHf
        ubef+TxVqZFR5beEj+tzS9pDCYSZmtXp0E3Z/Nt6H7hibwGT071fIrLIMTAgMBAAGjTzBNMCwGFGmCqI6RstTM4uids+3zubn/yYMwBBQMEmxh
        dGNoa2V5LXRlc3Qtb25seDAdBgNVHQ4EFgQUi1AC+JiLpoe7bNZuXCriiNua6eYwDQYJKoZIhvcNAQELBQADgYEAn1BEAzyumoZUv+NovEjUux
        rzHV+NIPA92vK69Qy4MBBHvur9bBN9LZJDeiKvLokBO+fOQJElM+AgpZudh0Ytg6JoqIoyGkTZe8qAnynpdeOyKQvaHr3c9fdpQEhblHxJjLBG
        Uq0HEM46PfCv5s8+1B0/xPWjRDXv+Fh+nLgShcQ=
        """)

    /// Self-signed for `O=Latchkey Test`, without the marker.
    static let unmarked = decoded(
        """
        MIIB6jCCAVOgAwIBAgIUQhM+toaxBVbITyWgXt0DYKnIpjswDQYJKoZIhvcNAQELBQAwGDEWMBQGA1UECgwNTGF0Y2hrZXkgVGVzdDAeFw0yNj
        ExMjEwNzE3MDVaFw0zNjExMTgwNzE3MDVaMBgxFjAUBgNVBAoMDUxhdGNoa2V5IFRlc3QwgZ8wDQYJKoZIhvcNAQEBBQADgY0AMIGJAoGBANKW
        hCT6eXVVRaRlYfljCsVFb4WXbwNKdROCFs/zLtxuuTIGrKNXwF7wptky650QUUjQi4hUwWqtV5Gz+2ViSOEG4mwt39u6/pqZZrX8DInJIOOWHf
        ubef+TxVqZFR5beEj+tzS9pDCYSZmtXp0E3Z/Nt6H7hibwGT071fIrLIMTAgMBAAGjMTAvMA4GA1UdDwEB/wQEAwIFIDAdBgNVHQ4EFgQUi1AC
        +JiLpoe7bNZuXCriiNua6eYwDQYJKoZIhvcNAQELBQADgYEApGYrB5NqJfeAcBA5+noql9JPEsS9UBqq5/b6eECnDuXaf3295kyePSHv1ye20z
        /45JCgnXZyMafRDA1f6WxYZ4hLxUGte+E2wLEn7RiODFj/3TXB/Vj9xdaZhLC3a+PkjRI4TDmBB51zDB8DTVHq0L5EyI3BloiN7RvAPyFPMBs=
        """)

    /// Marked, but with an issuer that contains "Apple".
    static let byApple = decoded(
        """
        MIICFDCCAX2gAwIBAgIUQR7/AcUJGODrxuogDeo8EVVcZl4wDQYJKoZIhvcNAQELBQAwHjEcMBoGA1UECgwTTGF0Y2hrZXkgVGVzdCBBcHBsZT
        AeFw0yNjExMjEwNzE3MDVaFw0zNjExMTgwNzE3MDVaMB4xHDAaBgNVBAoME0xhdGNoa2V5IFRlc3QgQXBwbGUwgZ8wDQYJKoZIhvcNAQEBBQAD
        gY0AMIGJAoGBANKWhCT6eXVVRaRlYfljCsVFb4WXbwNKdROCFs/zLtxuuTIGrKNXwF7wptky650QUUjQi4hUwWqtV5Gz+2ViSOEG4mwt39u6/p
        qZZrX8DInJIOOWHfubef+TxVqZFR5beEj+tzS9pDCYSZmtXp0E3Z/Nt6H7hibwGT071fIrLIMTAgMBAAGjTzBNMCwGFGmCqI6RstTM4uids+3z
        ubn/yYMwBBQMEmxhdGNoa2V5LXRlc3Qtb25seTAdBgNVHQ4EFgQUi1AC+JiLpoe7bNZuXCriiNua6eYwDQYJKoZIhvcNAQELBQADgYEANva0jr
        CBeelQvIVtWsi5qPmTS67V0JeOAytYSKdnODW84d956ERqu8bDg17f00nwYF4eAAtnkmqGB6QYGbOWcmf8GU6vSstipNYjjUj1j6plr1S8GuIJ
        Ru4YwCPFEbM0tNi5G+rm/a4OtBHwAef9zPYqWqStu3+TvGOASx3+nxo=
        """)

    /// Marked, but signed with another key.
    static let foreign = decoded(
        """
        MIICKTCCAZKgAwIBAgIUDoH/lvnHyRR3yr8s49BYditG0qMwDQYJKoZIhvcNAQELBQAwGDEWMBQGA1UECgwNTGF0Y2hrZXkgVGVzdDAeFw0yNj
        ExMjEwNzE3MDVaFw0zNjExMTgwNzE3MDVaMBgxFjAUBgNVBAoMDUxhdGNoa2V5IFRlc3QwgZ8wDQYJKoZIhvcNAQEBBQADgY0AMIGJAoGBANKW
        hCT6eXVVRaRlYfljCsVFb4WXbwNKdROCFs/zLtxuuTIGrKNXwF7wptky650QUUjQi4hUwWqtV5Gz+2ViSOEG4mwt39u6/pqZZrX8DInJIOOWHf
        ubef+TxVqZFR5beEj+tzS9pDCYSZmtXp0E3Z/Nt6H7hibwGT071fIrLIMTAgMBAAGjcDBuMCwGFGmCqI6RstTM4uids+3zubn/yYMwBBQMEmxh
        dGNoa2V5LXRlc3Qtb25seTAdBgNVHQ4EFgQUi1AC+JiLpoe7bNZuXCriiNua6eYwHwYDVR0jBBgwFoAUJUAWW+SOPY+et9fPsFrDLULWZBIwDQ
        YJKoZIhvcNAQELBQADgYEAMg09zM4jcfMwvug9oQ54rTJdNMmunNYS/uyeAfWFp2AW8ibKwqS4aEV1tYVhf+JzBb6fYY9v2nZXHwj78CnXOOby
        vLUc5uh7fOy8Lr0o/9cHKhWIkbd0LroAUQEw9tVhrgzijf6vFr1tCNvTnZWQ8FlGTv859UT4epfh4u9JFJI=
        """)

    /// RSA with 1536 bits.
    static let rsa1536 = decoded(
        """
        MIICiDCCAbGgAwIBAgIUbOu5TKRl50CmfO2s4Lmq4I+wmkkwDQYJKoZIhvcNAQELBQAwGDEWMBQGA1UECgwNTGF0Y2hrZXkgVGVzdDAeFw0yNj
        ExMjEwNzE3MDVaFw0zNjExMTgwNzE3MDVaMBgxFjAUBgNVBAoMDUxhdGNoa2V5IFRlc3Qwgd8wDQYJKoZIhvcNAQEBBQADgc0AMIHJAoHBAMrt
        SWP02aJ/sVp5R/iyCFtM85yv8yzdM/K5gxjnUZuon7zkH70dqcmizp83vbGcIkcU+zwKEEa8L4yYL/NJWXfrKFOYKMOS1VYdBULkv3kFhYP1Xd
        FFv8PRxUcRQuOr/29A5vyXVM2+urabDIpuwtG9IPicHBnrszHg7Hwz0/LntJIAkYc5A1UYwpvYaCtZCm+UA85eP2+8hesWKWdfL1PVnDaD2aQT
        ZD8en1gayA2fNRbO4+XQeB0lRXbOKc7tnQIDAQABo08wTTAsBhRpgqiOkbLUzOLonbPt87m5/8mDMAQUDBJsYXRjaGtleS10ZXN0LW9ubHkwHQ
        YDVR0OBBYEFPtx68mSFprd8eDyTGACzcFMqO+BMA0GCSqGSIb3DQEBCwUAA4HBAMl+7ltbKjyavptarWtIx01cSDD9TsIzCZw0NGooVXDtqiW+
        POQTDih+omzCeUXdH7M1qhQAYH2y1G84nhDXpcsc5SpHYStNteCxbXFSkt39Z85ytCy//q4ZdiPlwSxEt0CM+xAMgeCYd0GpdYXmCE8ayxFtUs
        0J4qqHswS8LJOWa6470uF6+TXTa7kHTnGLx4dYNEpWaNKzJ8fMbuT47WZpV2nCQ10a8GdQc9XwAtwXD/T/OFpUJaZcfbxGWhyJeA==
        """)

    /// An elliptic curve key.
    static let elliptic = decoded(
        """
        MIIBgTCCASegAwIBAgIUKtzk2mVPljM6tvUO2Yi4VgxNLDMwCgYIKoZIzj0EAwIwGDEWMBQGA1UECgwNTGF0Y2hrZXkgVGVzdDAeFw0yNjExMj
        EwNzE3MDVaFw0zNjExMTgwNzE3MDVaMBgxFjAUBgNVBAoMDUxhdGNoa2V5IFRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAT2NRDpytSA
        nvKZUG/46CrIP4Ovecut4UaMbQc9CxV7hsDJ9P7/xNjYchjsv0+ibcs9CREsFs75lSPyJsvDoDa/o08wTTAsBhRpgqiOkbLUzOLonbPt87m5/8
        mDMAQUDBJsYXRjaGtleS10ZXN0LW9ubHkwHQYDVR0OBBYEFMC0MD2gP3LWzNSMn164k3FQ4oGFMAoGCCqGSM49BAMCA0gAMEUCIQCyaEANvIoo
        Ur1texdMXYmk4qYgTqWU71AXxYodCJf3WgIgDyr2uiWTUWCFNlvYO4rNn4XQ+boujKGRB2hVJ5c2jl4=
        """)

    /// A PKCS#12 file.
    static let pkcs12 = decoded(
        """
        MIIEBgIBAzCCA8AGCSqGSIb3DQEHAaCCA7EEggOtMIIDqTCCAmEGCSqGSIb3DQEHBqCCAlIwggJOAgEAMIICRwYJKoZIhvcNAQcBMFYGCSqGSI
        b3DQEFDTBJMCgGCSqGSIb3DQEFDDAbBAign6l5ihXOCAIBATAMBggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQJpdpJu+MYMtsU1vx5RqSJYCC
        AeB5ClcxWTB75f2/8PHH+4xnCUEdMMPQQPT0xNawy8Eg5TsVP1YOzrbdWei13MqwxljlbGhKm9q3xx3g+Kv0orBJgOOd+nj10twBzgWWP6j0+d
        /t0V4WL/TMi3AkCHvAKuI/0iikj7I4Hj3BzNpgqd5x+bGHnQ+0u6TtqHY5OwO33NPResFQ+f4RKT/xV1WJjPv7KBh7okM/z4ZVuD4cN/DrP77J
        ZhIaqd7Qkb4NOwOwe+H4Otb0ef4OtdkxhRHPn9qpmVnJjT0+MANroHcYu54GjFypf+mR5sYKWoO2HjQ5stMS1lVDspDl2NApac4okHcpFdGtmL
        l34oIac55M+8veVLA60xrRmUdaKyAgWn7yHZ7mb9uqLWOXVbKJrs9fkV9aTInO52DEqJYwfw7FhsCpEuCgDnHXrMh9qv4B28qAc0dh4fljpkW8
        VDHYaW/QpTUhxch/hJZGiaNv7+lJnB8Smv2gbrH32TO0go3FPbZoGxHxfPthvfRUCh/PBs0XHNmJ9QXwWaU3W3Oo5ba2Jyy4vLMnxGC1mxV++o
        VD85ncuiQaTafCJDe6FsGZvLOtEB81mGwHYMKOYHmLEqEc7Hz4OCtR18c5vGi28M33+gwvGG7s6Aix+05+i3j0nAs6JhcwggFABgkqhkiG9w0B
        BwGgggExBIIBLTCCASkwggElBgsqhkiG9w0BDAoBAqCB7jCB6zBWBgkqhkiG9w0BBQ0wSTAoBgkqhkiG9w0BBQwwGwQIIkRO1KurGzcCAQEwDA
        YIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEAuSdJYTuEmwHMTLrRpejnYEgZDLFcAPAajeIyxP3z0Z6lfG0eZgRLvQQVmaEGTx8biNQvFgafui
        r9+ZsohO9P7VLCsUsuVXbHUU/UDcF/+Mlz22uJQ23xDLx7nrnqHjpDNljh0LryfdV7YQUincXyxvnKQVxLEITHvYnc/2LiiHq5MxMro0fv0P5D
        /DM7rTUUEH9+hXBOjXQntNIO+iYvRrkJAxJTAjBgkqhkiG9w0BCRUxFgQUdHcGHTY3d8kpGbBUM81sgmrh/xUwPTAxMA0GCWCGSAFlAwQCAQUA
        BCCszpDEV3c8lLDCSUWm+qk2b87JLxD0RIkHj4iUDifdSQQIOO2DQFXBc9c=
        """)

    /// A private key with a password.
    static let lockedKey = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgJ0a7RLH3HGAICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEGwGMZoLEjXRLIVzp1jI14cEgZBd
        8uKmmyutP94Kd1SG2dgzkMezULAW7rFs0Gbg8FD1+Lp4v44t34oXuNAKYCdy8IqA
        K4Hrkswpvy9MUIp8ZSr1uR/RND6DSn77gqNTmukulogABGSL1tw5LU4CaNgvZ4sV
        c4wBcjEJSwJsxYXx2rYCaxZrjN3O8sB8ZYnfZpySaP8hKexE2oYyyg3hzTAafPQ=
        -----END ENCRYPTED PRIVATE KEY-----
        """

    private static func decoded(_ text: String) -> [UInt8] {
        [UInt8](Data(base64Encoded: text, options: .ignoreUnknownCharacters) ?? Data())
    }
}
