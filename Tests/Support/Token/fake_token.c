// A PKCS#11 module for tests of what SoftHSM does not do: a token with raw RSA only, one that is about to lock itself, and one that is
// removed and put back. It has one token "fake" with one key, and "decrypts" by giving back the first 16 bytes.
#include "cryptoki.h"

#include <string.h>

// What the first C_Decrypt returns, and every one after it.
#ifndef FIRST
#define FIRST CKR_OK
#endif
#ifndef LATER
#define LATER CKR_OK
#endif
#ifndef TOKEN_FLAGS
#define TOKEN_FLAGS 0
#endif

static int state, sessions, decryptions;

static CK_RV initialize(void *arguments) { return CKR_OK; }
static CK_RV slots(CK_BYTE present, CK_ULONG *list, CK_ULONG *count) {
    if (list) list[0] = 7;
    *count = 1;
    return CKR_OK;
}
static CK_RV token(CK_ULONG slot, CK_TOKEN_INFO *info) {
    memset(info, ' ', sizeof *info);
    memcpy(info->label, "fake", 4);
    info->flags = TOKEN_FLAGS;
    return CKR_OK;
}
static CK_RV mechanism(CK_ULONG slot, CK_ULONG mechanism, CK_MECHANISM_INFO *info) {
#ifdef RAW_RSA_ONLY
    return CKR_MECHANISM_INVALID;
#else
    info->flags = CKF_DECRYPT;
    return CKR_OK;
#endif
}
static CK_RV openSession(CK_ULONG slot, CK_ULONG flags, void *application, void *notify, CK_ULONG *session) {
    *session = ++sessions;
    return CKR_OK;
}
static CK_RV closeSession(CK_ULONG session) { return CKR_OK; }
static CK_RV sessionInfo(CK_ULONG session, CK_SESSION_INFO *info) {
    info->state = state;
    return CKR_OK;
}
static CK_RV login(CK_ULONG session, CK_ULONG user, const CK_BYTE *pin, CK_ULONG count) {
    state = CKS_RO_USER_FUNCTIONS;
    return CKR_OK;
}
static CK_RV attribute(CK_ULONG session, CK_ULONG object, CK_ATTRIBUTE *attributes, CK_ULONG count) {
    *(CK_BYTE *)attributes->pValue = attributes->type != CKA_EXTRACTABLE;
    return CKR_OK;
}
static CK_RV find(CK_ULONG session, const CK_ATTRIBUTE *attributes, CK_ULONG count) { return CKR_OK; }
static CK_RV found(CK_ULONG session, CK_ULONG *objects, CK_ULONG room, CK_ULONG *count) {
    objects[0] = 9;
    *count = 1;
    return CKR_OK;
}
static CK_RV findEnd(CK_ULONG session) { return CKR_OK; }
static CK_RV decryptInit(CK_ULONG session, const CK_MECHANISM *mechanism, CK_ULONG key) { return CKR_OK; }
static CK_RV decrypt(CK_ULONG session, const CK_BYTE *in, CK_ULONG count, CK_BYTE *out, CK_ULONG *room) {
    CK_RV result = decryptions++ == 0 ? FIRST : LATER;
    if (result != CKR_OK) return result;
    memcpy(out, in, 16);
    *room = 16;
    return CKR_OK;
}

static const CK_FUNCTION_LIST list = {
    .version = {2, 40}, .C_Initialize = initialize, .C_GetSlotList = slots, .C_GetTokenInfo = token,
    .C_GetMechanismInfo = mechanism, .C_OpenSession = openSession, .C_CloseSession = closeSession,
    .C_GetSessionInfo = sessionInfo, .C_Login = login, .C_GetAttributeValue = attribute, .C_FindObjectsInit = find,
    .C_FindObjects = found, .C_FindObjectsFinal = findEnd, .C_DecryptInit = decryptInit, .C_Decrypt = decrypt,
};

CK_RV C_GetFunctionList(const CK_FUNCTION_LIST **result) {
    *result = &list;
    return CKR_OK;
}
