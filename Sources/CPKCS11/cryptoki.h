// The part of PKCS#11 2.40 that decrypts with a key in a token. Names, numbers and layouts are the standard's (OASIS, "PKCS #11
// Cryptographic Token Interface Base Specification"); the layouts are those of Unix, where structures are not packed.
//
// A header of our own, so that a build needs no package for it: a module is loaded at run time and nothing is linked.
#pragma once

typedef unsigned char CK_BYTE;
typedef unsigned long CK_ULONG;
typedef CK_ULONG CK_RV;

typedef struct { CK_BYTE major, minor; } CK_VERSION;

typedef struct {
    CK_BYTE label[32], manufacturerID[32], model[16], serialNumber[16];
    CK_ULONG flags;
    CK_ULONG ulMaxSessionCount, ulSessionCount, ulMaxRwSessionCount, ulRwSessionCount, ulMaxPinLen, ulMinPinLen;
    CK_ULONG ulTotalPublicMemory, ulFreePublicMemory, ulTotalPrivateMemory, ulFreePrivateMemory;
    CK_VERSION hardwareVersion, firmwareVersion;
    CK_BYTE utcTime[16];
} CK_TOKEN_INFO;

typedef struct { CK_ULONG slotID, state, flags, ulDeviceError; } CK_SESSION_INFO;
typedef struct { CK_ULONG ulMinKeySize, ulMaxKeySize, flags; } CK_MECHANISM_INFO;
typedef struct { CK_ULONG mechanism; void *pParameter; CK_ULONG ulParameterLen; } CK_MECHANISM;
typedef struct { CK_ULONG type; void *pValue; CK_ULONG ulValueLen; } CK_ATTRIBUTE;
typedef struct { CK_ULONG hashAlg, mgf, source; void *pSourceData; CK_ULONG ulSourceDataLen; } CK_RSA_PKCS_OAEP_PARAMS;
typedef struct { void *CreateMutex, *DestroyMutex, *LockMutex, *UnlockMutex; CK_ULONG flags; void *pReserved; } CK_C_INITIALIZE_ARGS;

/// A module's functions in the standard's order, up to the last that is called here; those that are not called have no type.
typedef struct {
    CK_VERSION version;
    CK_RV (*C_Initialize)(void *arguments);
    void *C_Finalize, *C_GetInfo, *C_GetFunctionList;
    CK_RV (*C_GetSlotList)(CK_BYTE withTokenOnly, CK_ULONG *slots, CK_ULONG *count);
    void *C_GetSlotInfo;
    CK_RV (*C_GetTokenInfo)(CK_ULONG slot, CK_TOKEN_INFO *info);
    void *C_GetMechanismList;
    CK_RV (*C_GetMechanismInfo)(CK_ULONG slot, CK_ULONG mechanism, CK_MECHANISM_INFO *info);
    void *C_InitToken, *C_InitPIN, *C_SetPIN;
    CK_RV (*C_OpenSession)(CK_ULONG slot, CK_ULONG flags, void *application, void *notify, CK_ULONG *session);
    CK_RV (*C_CloseSession)(CK_ULONG session);
    CK_RV (*C_CloseAllSessions)(CK_ULONG slot);
    CK_RV (*C_GetSessionInfo)(CK_ULONG session, CK_SESSION_INFO *info);
    void *C_GetOperationState, *C_SetOperationState;
    CK_RV (*C_Login)(CK_ULONG session, CK_ULONG user, const CK_BYTE *pin, CK_ULONG count);
    void *C_Logout, *C_CreateObject, *C_CopyObject, *C_DestroyObject, *C_GetObjectSize;
    CK_RV (*C_GetAttributeValue)(CK_ULONG session, CK_ULONG object, CK_ATTRIBUTE *attributes, CK_ULONG count);
    void *C_SetAttributeValue;
    CK_RV (*C_FindObjectsInit)(CK_ULONG session, const CK_ATTRIBUTE *attributes, CK_ULONG count);
    CK_RV (*C_FindObjects)(CK_ULONG session, CK_ULONG *objects, CK_ULONG room, CK_ULONG *count);
    CK_RV (*C_FindObjectsFinal)(CK_ULONG session);
    void *C_EncryptInit, *C_Encrypt, *C_EncryptUpdate, *C_EncryptFinal;
    CK_RV (*C_DecryptInit)(CK_ULONG session, const CK_MECHANISM *mechanism, CK_ULONG key);
    CK_RV (*C_Decrypt)(CK_ULONG session, const CK_BYTE *encrypted, CK_ULONG encryptedCount, CK_BYTE *plain, CK_ULONG *count);
} CK_FUNCTION_LIST;

// What the functions return.
static const CK_RV CKR_OK = 0, CKR_HOST_MEMORY = 0x02, CKR_SLOT_ID_INVALID = 0x03, CKR_GENERAL_ERROR = 0x05,
                   CKR_FUNCTION_FAILED = 0x06, CKR_DEVICE_ERROR = 0x30, CKR_DEVICE_MEMORY = 0x31, CKR_DEVICE_REMOVED = 0x32,
                   CKR_FUNCTION_CANCELED = 0x50, CKR_KEY_HANDLE_INVALID = 0x60, CKR_MECHANISM_INVALID = 0x70,
                   CKR_OBJECT_HANDLE_INVALID = 0x82, CKR_OPERATION_ACTIVE = 0x90, CKR_OPERATION_NOT_INITIALIZED = 0x91,
                   CKR_PIN_INCORRECT = 0xa0, CKR_PIN_INVALID = 0xa1, CKR_PIN_LEN_RANGE = 0xa2, CKR_PIN_EXPIRED = 0xa3,
                   CKR_PIN_LOCKED = 0xa4, CKR_SESSION_CLOSED = 0xb0, CKR_SESSION_COUNT = 0xb1,
                   CKR_SESSION_HANDLE_INVALID = 0xb3, CKR_TOKEN_NOT_PRESENT = 0xe0, CKR_TOKEN_NOT_RECOGNIZED = 0xe1,
                   CKR_USER_ALREADY_LOGGED_IN = 0x100, CKR_USER_NOT_LOGGED_IN = 0x101, CKR_USER_PIN_NOT_INITIALIZED = 0x102,
                   CKR_CRYPTOKI_NOT_INITIALIZED = 0x190, CKR_CRYPTOKI_ALREADY_INITIALIZED = 0x191;

// Flags: of the initialization, of sessions, of tokens, of mechanisms.
static const CK_ULONG CKF_OS_LOCKING_OK = 0x02, CKF_SERIAL_SESSION = 0x04, CKF_USER_PIN_COUNT_LOW = 0x10000,
                      CKF_USER_PIN_FINAL_TRY = 0x20000, CKF_USER_PIN_LOCKED = 0x40000, CKF_DECRYPT = 0x200;

// Users, states of sessions, classes and types of objects, attributes, mechanisms.
static const CK_ULONG CKU_USER = 1, CKS_RO_USER_FUNCTIONS = 1, CKS_RW_USER_FUNCTIONS = 3, CKO_PRIVATE_KEY = 3, CKK_RSA = 0,
                      CKA_CLASS = 0x000, CKA_LABEL = 0x003, CKA_KEY_TYPE = 0x100, CKA_ID = 0x102, CKA_SENSITIVE = 0x103,
                      CKA_DECRYPT = 0x105, CKA_MODULUS = 0x120, CKA_EXTRACTABLE = 0x162, CKM_RSA_PKCS_OAEP = 0x009, CKM_SHA_1 = 0x220,
                      CKG_MGF1_SHA1 = 1, CKZ_DATA_SPECIFIED = 1;
