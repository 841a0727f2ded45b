/* A loader for the relocatable ELF files that LLVM makes of kernels: one mapping, written first,
 * then made executable and read-only. Trusts nothing that the file says. */
#include "codegen/llvm/emit.h"
#include "codegen/llvm/object.h"
#include "core/allocate.h"
#include "core/status.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

enum { SECTIONS_MOST = 4096, ALIGNMENT_MOST = 4096 };
static const uint64_t memory_most = (uint64_t)1 << 30;

struct file {
    const char *data;
    size_t bytes;
    Elf64_Ehdr header;
    char *memory;     /* where sections are loaded */
    uint64_t *offset; /* of each section in it, or NOWHERE */
};
static const uint64_t NOWHERE = ~(uint64_t)0;

static weft_status damaged(const char *what)
{
    return FAIL(WEFT_ERROR_COMPILE, "the code of the compiled kernel is damaged: %s", what);
}

/* Copies bytes out of the file, if it has them. */
static bool read_at(const struct file *file, uint64_t offset, void *to, size_t bytes)
{
    if (offset > file->bytes || bytes > file->bytes - offset)
        return false;
    memcpy(to, file->data + offset, bytes);
    return true;
}

static bool section_at(const struct file *file, uint32_t number, Elf64_Shdr *section)
{
    return number < file->header.e_shnum &&
           read_at(file, file->header.e_shoff + (uint64_t)number * sizeof *section, section,
                   sizeof *section);
}

static weft_status check(struct file *file)
{
    const Elf64_Ehdr *header = &file->header;
    if (!read_at(file, 0, &file->header, sizeof file->header) ||
        memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_type != ET_REL || header->e_shentsize != sizeof(Elf64_Shdr) ||
        header->e_shnum > SECTIONS_MOST || header->e_shoff > file->bytes)
        return damaged("it is no relocatable ELF file");
    if (header->e_machine != weft__elf_machine())
        return damaged("it is for another machine");
    return WEFT_OK;
}

/* Gives every section that is loaded a place; *total is the memory that they need. */
static weft_status lay_out(const struct file *file, uint64_t *total)
{
    Elf64_Shdr section;
    *total = 0;
    for (uint32_t k = 0; k < file->header.e_shnum; k++) {
        file->offset[k] = NOWHERE;
        if (!section_at(file, k, &section))
            return damaged("a section is missing");
        if ((section.sh_flags & SHF_ALLOC) == 0)
            continue;
        const uint64_t alignment = section.sh_addralign > 1 ? section.sh_addralign : 1;
        if (alignment > ALIGNMENT_MOST || (alignment & (alignment - 1)) != 0 ||
            section.sh_size > memory_most)
            return damaged("a section does not fit");
        *total += -*total & (alignment - 1);
        file->offset[k] = *total;
        *total += section.sh_size;
    }
    *total += -*total & ((uint64_t)sysconf(_SC_PAGESIZE) - 1);
    return *total > 0 && *total <= memory_most ? WEFT_OK : damaged("it has no code");
}

static weft_status copy_sections(const struct file *file)
{
    Elf64_Shdr section;
    for (uint32_t k = 0; k < file->header.e_shnum; k++) {
        if (file->offset[k] == NOWHERE)
            continue;
        (void)section_at(file, k, &section);
        if (section.sh_type != SHT_NOBITS &&
            !read_at(file, section.sh_offset, file->memory + file->offset[k], section.sh_size))
            return damaged("a section is cut off");
    }
    return WEFT_OK;
}

/* The address of a symbol in memory, if it is in a section that is loaded. */
static bool address_of(const struct file *file, const Elf64_Sym *symbol, char **address)
{
    Elf64_Shdr section;
    if (symbol->st_shndx == SHN_UNDEF || !section_at(file, symbol->st_shndx, &section) ||
        file->offset[symbol->st_shndx] == NOWHERE || symbol->st_value > section.sh_size)
        return false;
    *address = file->memory + file->offset[symbol->st_shndx] + symbol->st_value;
    return true;
}

/* The name of a symbol, up to some length; "" if it has none. */
static void name_of(const struct file *file, const Elf64_Shdr *table, const Elf64_Sym *symbol,
                    char *name, size_t room)
{
    Elf64_Shdr strings;
    size_t k = 0;
    if (section_at(file, table->sh_link, &strings))
        while (k + 1 < room &&
               read_at(file, strings.sh_offset + symbol->st_name + k, name + k, 1) &&
               name[k] != '\0')
            k++;
    name[k] = '\0';
}

static weft_status relocate_one(const struct file *file, const Elf64_Shdr *symbols,
                                const Elf64_Shdr *target, char *base, const Elf64_Rela *relocation)
{
    Elf64_Sym symbol;
    char *address, name[64];
    const uint64_t at = symbols->sh_offset + ELF64_R_SYM(relocation->r_info) * sizeof symbol;
    if (ELF64_R_SYM(relocation->r_info) >= symbols->sh_size / sizeof symbol ||
        !read_at(file, at, &symbol, sizeof symbol))
        return damaged("a symbol is missing");
    if (!address_of(file, &symbol, &address)) {
        name_of(file, symbols, &symbol, name, sizeof name);
        return FAIL(WEFT_ERROR_COMPILE, "the code of the compiled kernel needs %s, which it lacks",
                    name);
    }
    if (target->sh_size < 8 || relocation->r_offset > target->sh_size - 4)
        return damaged("a relocation is outside of its section");
    if (!weft__relocate((uint32_t)ELF64_R_TYPE(relocation->r_info), base + relocation->r_offset,
                        (uint64_t)(uintptr_t)address, relocation->r_addend))
        return damaged("a relocation is of an unknown kind");
    return WEFT_OK;
}

static weft_status relocate_section(const struct file *file, const Elf64_Shdr *section)
{
    Elf64_Shdr symbols, target;
    Elf64_Rela relocation;
    if (!section_at(file, section->sh_info, &target) || file->offset[section->sh_info] == NOWHERE)
        return WEFT_OK; /* of something that is not loaded */
    if (!section_at(file, section->sh_link, &symbols))
        return damaged("a table of symbols is missing");
    for (uint64_t k = 0; k < section->sh_size / sizeof relocation; k++) {
        if (!read_at(file, section->sh_offset + k * sizeof relocation, &relocation,
                     sizeof relocation))
            return damaged("a relocation is missing");
        TRY(relocate_one(file, &symbols, &target, file->memory + file->offset[section->sh_info],
                         &relocation));
    }
    return WEFT_OK;
}

/* The functions of a kernel: of its results, and of folds. */
static weft_status find_kernel(const struct file *file, const Elf64_Shdr *table, char **kernel)
{
    static const char *const names[] = {WEFT__KERNEL_NAME, WEFT__FOLD_NAME};
    Elf64_Sym symbol;
    char name[32];
    for (uint64_t k = 0; k < table->sh_size / sizeof symbol; k++) {
        if (!read_at(file, table->sh_offset + k * sizeof symbol, &symbol, sizeof symbol))
            return damaged("a symbol is missing");
        name_of(file, table, &symbol, name, sizeof name);
        for (int j = 0; j < 2; j++)
            if (strcmp(name, names[j]) == 0 && !address_of(file, &symbol, &kernel[j]))
                return damaged("the kernel has no code");
    }
    return WEFT_OK;
}

static weft_status link_sections(const struct file *file, char **kernel)
{
    Elf64_Shdr section;
    for (uint32_t k = 0; k < file->header.e_shnum; k++) {
        (void)section_at(file, k, &section);
        if (section.sh_type == SHT_RELA)
            TRY(relocate_section(file, &section));
        else if (section.sh_type == SHT_SYMTAB)
            TRY(find_kernel(file, &section, kernel));
    }
    return kernel[0] != NULL || kernel[1] != NULL ? WEFT_OK : damaged("it has no kernel");
}

static weft_status fill(const struct file *file, weft__native *native)
{
    char *kernel[2] = {NULL, NULL};
    TRY(copy_sections(file));
    TRY(link_sections(file, kernel));
    TRY(weft__executable_finish(&native->code));
    memcpy(&native->run, &kernel[0], sizeof native->run);
    memcpy(&native->fold, &kernel[1], sizeof native->fold);
    return WEFT_OK;
}

weft_status weft__elf_load(const char *data, size_t bytes, weft__native *native)
{
    struct file file = {.data = data, .bytes = bytes};
    uint64_t total;
    TRY(check(&file));
    file.offset = weft__allocate((file.header.e_shnum + (size_t)1) * sizeof *file.offset);
    if (file.offset == NULL)
        return WEFT_ERROR_MEMORY;
    weft_status status = lay_out(&file, &total);
    if (status == WEFT_OK)
        status = weft__executable_new((size_t)total, &native->code);
    if (status == WEFT_OK) {
        file.memory = native->code.memory;
        if ((status = fill(&file, native)) != WEFT_OK)
            weft__executable_free(&native->code);
    }
    weft__free(file.offset);
    return status;
}
