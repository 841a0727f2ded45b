#!/usr/bin/env bash
# peers.sh FOLDER: a Python environment with what the benchmarks compare with: NumPy, numexpr, Numba,
# PyTorch, JAX and PyOpenCL.
#
# PyPI has PyTorch for Linux on x86-64 only as a CUDA build, whose CUDA libraries are 2 GB that a CPU
# never uses. So they are not downloaded: the small CUDA runtime is, which PyTorch calls as it is
# loaded, and empty libraries stand in for the others. Where that does not work, the whole is
# installed. FOLDER/ready names what can be imported; a second run does nothing.
set -u
folder=${1:?the folder}
log=$folder.log
[ "$(tr '\n' ' ' 2>/dev/null <"$folder/ready")" = "numpy numexpr numba jax torch pyopencl " ] && exit
mkdir -p "$(dirname "$folder")"
: >"$log"

imports() { "$folder/bin/python" -c "import $1" >>"$log" 2>&1; }
pip() { "$folder/bin/python" -m pip --disable-pip-version-check "$@" >>"$log" 2>&1; }

# The names that PyTorch's requirements have without a CUDA in them.
plain_requirements() {
    "$folder/bin/python" - <<'END'
import importlib.metadata, re
for line in importlib.metadata.requires("torch"):
    name = re.match(r"[A-Za-z0-9_.-]+", line).group()
    if "extra ==" not in line and not re.match(r"nvidia|cuda|triton", name):
        print(line.split(";")[0].strip())
END
}

# The CUDA runtime in the version that PyTorch asks for.
runtime_requirement() {
    "$folder/bin/python" - <<'END'
import importlib.metadata, re
for line in importlib.metadata.requires("torch"):
    toolkit = re.match(r"cuda-toolkit\[.*\]([=<>~]+[0-9.]+)", line)
    if toolkit:
        print("cuda-toolkit[cudart]" + toolkit.group(1))
    if re.match(r"nvidia-cuda-runtime", line):
        print(line.split(";")[0].strip())
END
}

# Makes a library for each one that PyTorch wants and that is not there, with every name it wants.
stand_in_libraries() {
    local torch wanted name
    torch=$("$folder/bin/python" -c 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])')/lib
    (
        cd "$torch" || exit 1
        nm -D --undefined-only ./*.so | awk '{ print $2 }' | grep -E '@lib(cu|nccl|nv)|^(cu|nccl|nvrtc|nvshmem)' |
            sed 's/@.*//' | sort -u >wanted-names
        find . ../../nvidia -name '*.so*' -exec nm -D --defined-only {} + 2>/dev/null |
            awk '{ print $NF }' | sed 's/@.*//' | sort -u >found-names
        { echo 'void abort(void);'; comm -23 wanted-names found-names | sed 's/.*/void &(void) { abort(); }/'; } >stand-in.c
        wanted=$(objdump -p ./*.so | awk '$1 == "NEEDED" && $2 ~ /^lib(cu|nccl|nv)/ { print $2 }' | sort -u)
        for name in $wanted; do
            [ -n "$(find . ../../nvidia -name "$name" 2>/dev/null)" ] ||
                cc -w -shared -fPIC stand-in.c -Wl,-soname,"$name" -o "$name"
        done
    ) >>"$log" 2>&1
}

install_torch() {
    pip install --no-deps torch || return 1
    # shellcheck disable=SC2046
    pip install $(plain_requirements) || return 1
    imports torch && return
    # shellcheck disable=SC2046
    pip install $(runtime_requirement)
    stand_in_libraries
    imports torch && return
    echo "      PyTorch alone does not load; fetching all it asks for (2 GB)"
    find "$folder" -path '*/torch/lib/*' -newer "$folder/pyvenv.cfg" -name '*.so.*' -size -200k -delete
    pip install --force-reinstall torch && imports torch
}

[ -x "$folder/bin/python" ] || python3 -m venv "$folder" >>"$log" 2>&1 || exit 1
# Numba first: it says which NumPy it can work with.
for peer in numba numpy numexpr jax; do
    imports $peer || pip install $peer || echo "      $peer could not be installed (see $log)"
done
# Mako makes the text of PyOpenCL's sums.
{ imports pyopencl && imports mako; } || pip install pyopencl mako || echo "      pyopencl could not be installed (see $log)"
imports torch || install_torch || echo "      PyTorch could not be installed (see $log)"
for peer in numpy numexpr numba jax torch pyopencl; do imports $peer && echo $peer; done >"$folder/ready"
